import type { IncomingHttpHeaders } from "node:http";
import { XoError } from "@xo-server/model";

/**
 * Refuses changes that another site's page asks of a browser. Browsers say where
 * a request comes from and pages cannot change what they say; programs say
 * nothing and have no cookie that they did not put there.
 * @throws XoError FORBIDDEN
 */
export function checkSameSite(
  method: string,
  headers: IncomingHttpHeaders,
): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  if (isSameSite(headers)) return;
  throw new XoError("FORBIDDEN", { reason: "the request is another site's" });
}

function isSameSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" || site === "none";
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
