/** The name or address in a URL, to connect to it: an IPv6 address without its brackets. */
export function urlHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}
