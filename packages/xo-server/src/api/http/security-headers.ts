/**
 * What may run, be loaded and be asked: the page comes from here and talks to
 * here only. Nothing is allowed inline, neither script nor style.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Data is not a page: shown in a browser it runs and loads nothing. */
export const DATA_POLICY =
  "default-src 'none'; frame-ancestors 'none'; sandbox";

/**
 * Sent with every answer. What is here is not to be framed, sniffed, opened by
 * other sites' windows or told about elsewhere.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": PAGE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "origin-agent-cluster": "?1",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Browsers come back with https only. @param seconds 0: they are not told to */
export function transportSecurity(
  seconds: number,
): Readonly<Record<string, string>> {
  return seconds === 0
    ? {}
    : { "strict-transport-security": `max-age=${seconds}` };
}
