import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a script of a web page sent the request. Such a request gets no
 * `WWW-Authenticate` challenge: the browser would hold the response back and open
 * its own password dialog over the page. An address typed into the browser
 * (`Sec-Fetch-Mode: navigate`) and programs without these headers are challenged.
 */
export function isSentByPage(headers: IncomingHttpHeaders): boolean {
  // The `fetch` of Node.js sends a mode, but no site.
  if (headers["sec-fetch-site"] !== undefined)
    return headers["sec-fetch-mode"] !== "navigate";
  // Browsers send Sec-Fetch headers over TLS and to localhost only.
  return (
    headers.origin !== undefined || headers["x-requested-with"] !== undefined
  );
}
