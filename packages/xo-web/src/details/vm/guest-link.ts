/** IPv4, or IPv6 with colons; no zone, port, path or blank. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=[^:]*:)[\da-f:]{2,39}(?:\.\d{1,3}){0,3}$/i;

/**
 * Address of a guest's SSH or RDP server. Guests report their addresses: one
 * that is not an IP address could add options to the link, or name another host.
 * @returns undefined for anything but an IP address
 */
export function toGuestLink(
  kind: "rdp" | "ssh",
  address: string | undefined,
): string | undefined {
  const host = toUrlHost(address);
  if (host === undefined) return undefined;
  return kind === "rdp"
    ? `rdp://full%20address=s:${host}:3389`
    : `ssh://${host}`;
}

/** IPv6 addresses are in brackets in URLs. */
function toUrlHost(address = ""): string | undefined {
  if (IPV4.test(address)) return address;
  return IPV6.test(address) ? `[${address}]` : undefined;
}
