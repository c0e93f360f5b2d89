/**
 * A text for a path of a URL or a header field (RFC 8187). Half a surrogate pair, which a name or UUID of a pool may contain
 * and UTF-8 cannot encode, becomes U+FFFD: `encodeURIComponent` throws.
 */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}
