import { isIPv6 } from "node:net";
import { XoError } from "@xo-server/model";

/** Address of a pool member. */
export interface Address {
  readonly scheme: "http" | "https";
  /** Host name or IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const HOST_CHARACTERS = /^(?:[a-z0-9_.-]+|[0-9a-f:.]+(?:%[a-z0-9]+)?)$/i;

/**
 * Parses `https://host[:port]`, `http://host[:port]` or `host[:port]` (https).
 * @throws XoError CONFIG_INVALID
 */
export function parseAddress(text: string): Address {
  const bare = text.includes("://") ? text : `https://${bracket(text)}`;
  const url = URL.canParse(bare) ? new URL(bare) : undefined;
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || (scheme !== "http" && scheme !== "https")) {
    throw invalid("not an address like https://192.0.2.1");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("an address must not contain credentials");
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const standardPort = scheme === "https" ? 443 : 80;
  return {
    scheme,
    host,
    port: url.port === "" ? standardPort : Number(url.port),
  };
}

/**
 * Address of another member from XAPI's text (HOST_IS_SLAVE, host.address), with
 * scheme and port of `known`: a pool must not choose a port, to which credentials
 * would be sent. Undefined if the text is not an address, or names another port.
 */
export function siblingAddress(
  known: Address,
  named: string,
): Address | undefined {
  const withPort = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(named);
  if (withPort !== null && Number(withPort[3]) !== known.port) return undefined;
  const bare = /^\[(.+)\]$/.exec(named);
  const host = withPort?.[1] ?? withPort?.[2] ?? bare?.[1] ?? named;
  if (!HOST_CHARACTERS.test(host)) return undefined;
  if (host.includes(":") && !isIPv6(host)) return undefined;
  return { scheme: known.scheme, host, port: known.port };
}

/** `host:port`, as in errors and logs. */
export function addressName({ host, port }: Address): string {
  return `${bracket(host)}:${port}`;
}

/** `host:port` of a configured address. @throws XoError CONFIG_INVALID */
export function hostName(text: string): string {
  return addressName(parseAddress(text));
}

/** The shortest URL that parseAddress parses to the same address. */
export function addressUrl(address: Address): string {
  const standardPort = address.scheme === "https" ? 443 : 80;
  const host = bracket(address.host);
  return address.port === standardPort
    ? `${address.scheme}://${host}`
    : `${address.scheme}://${host}:${address.port}`;
}

function bracket(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function invalid(reason: string): XoError {
  return new XoError("CONFIG_INVALID", { where: "hosts", reason });
}
