/**
 * Content security policy of the web page: everything is loaded from this server,
 * nothing is inline.
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

/** Policy of data: opened in a browser, it runs and loads nothing. */
export const DATA_POLICY =
  "default-src 'none'; frame-ancestors 'none'; sandbox";

/**
 * Sent with every response: no framing, no content sniffing, no access from windows
 * of other origins, no referrer.
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

/** HTTP Strict Transport Security (RFC 6797). @param seconds 0: no header */
export function transportSecurity(
  seconds: number,
): Readonly<Record<string, string>> {
  return seconds === 0
    ? {}
    : { "strict-transport-security": `max-age=${seconds}` };
}
