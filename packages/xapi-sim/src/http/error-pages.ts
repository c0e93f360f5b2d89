import { NO_CACHE, type Header, type Reply } from "./reply.js";

/** XAPI's HTML pages for what its HTTP layer refuses, byte for byte [http_svr.ml:128-235]. */
function errorPage(
  version: "1.0" | "1.1",
  status: number,
  html: string,
  extra: readonly Header[] = [],
): Reply {
  const body = `<html><body>${html}</body></html>`;
  return {
    version,
    status,
    headers: [
      ["content-length", String(Buffer.byteLength(body))],
      ["content-type", "text/html"],
      ["connection", "close"],
      NO_CACHE,
      ...extra,
    ],
    body: [body],
    keepAlive: false,
  };
}

/** 401, for a failed login. @param realm of HTTP basic authentication */
export function unauthorised(version: "1.0" | "1.1", realm: string): Reply {
  return errorPage(
    version,
    401,
    "<h1>HTTP 401 unauthorised</h1>Please check your credentials and retry.",
    [["WWW-Authenticate", `Basic realm="${realm}"`]],
  );
}

/** 403, for a path without a handler. */
export function forbidden(version: "1.0" | "1.1"): Reply {
  return errorPage(
    version,
    403,
    "<h1>HTTP 403 forbidden</h1>Access to the requested resource is forbidden.",
  );
}

/** 408, for a request whose head does not arrive in time. */
export function requestTimeout(): Reply {
  return errorPage(
    "1.1",
    408,
    "<h1>HTTP 408 request timeout</h1>Timed out waiting for the request.",
  );
}

/** 431 */
export function headerTooLarge(): Reply {
  return errorPage(
    "1.1",
    431,
    "<h1>HTTP 431 request header fields too large</h1>Exceeded the maximum header size.",
  );
}

/** 501, for an unknown HTTP method. */
export function notImplemented(version: "1.0" | "1.1", method: string): Reply {
  return errorPage(
    version,
    501,
    `<h1>HTTP 501 Method Not Implemented</h1><p>Unknown ${escapeHtml(method)} not supported.<br /></p>`,
  );
}

/** An uncaught OCaml exception; `exception` in OCaml's notation. */
export function crashed(version: "1.0" | "1.1", exception: string): Reply {
  return errorPage(
    version,
    500,
    "<h1>HTTP 500 internal server error</h1>An unexpected error occurred; " +
      "please wait a while and try again. If the problem persists, please contact " +
      "your support representative.<h1> Additional information </h1>" +
      escapeHtml(exception),
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeHtml(text: string): string {
  return text.replace(/[<>&"']/g, (c) => ENTITIES[c]!);
}
