import type { IncomingHttpHeaders } from "node:http";
import { XoError } from "@xo-server/model";

/**
 * Rejects cross-site changes (CSRF) by Sec-Fetch-Site or Origin, headers that
 * scripts of a page cannot set. Programs other than browsers send neither header
 * and have no cookies of a browser.
 * @throws XoError FORBIDDEN
 */
export function checkSameSite(
  method: string,
  headers: IncomingHttpHeaders,
): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  if (isSameSite(headers)) return;
  throw new XoError("FORBIDDEN", { reason: "cross-site request" });
}

function isSameSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" || site === "none";
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
