import { isMap } from "./values/maps.js";

/**
 * Number of addresses per interface and family: guests can report arbitrary
 * data.
 */
const MAX_ADDRESSES = 256;

const none: Readonly<Record<string, string>> = Object.freeze({});

/**
 * A guest's addresses, from VM_guest_metrics.networks, in the order of its
 * keys. Old guest tools report an IPv4 address as `N/ip`; a value may contain
 * several addresses separated by white space.
 * @returns by `N/ipv4/i` and `N/ipv6/i`: number of the interface, family, index
 *   from 0
 */
export function readAddresses(
  networks: unknown,
): Readonly<Record<string, string>> {
  if (!isMap(networks)) return none;
  const all: Record<string, string> = {};
  // Sorted keys with the same prefix follow each other.
  let lastPrefix: string | undefined;
  let addresses: string[] = [];
  for (const key of sortedKeys(networks)) {
    const prefix = prefixOf(key);
    const value = networks[key];
    if (prefix === undefined || typeof value !== "string") continue;
    if (prefix !== lastPrefix) addresses = [];
    lastPrefix = prefix;
    for (const address of addressesIn(value)) {
      if (addresses.length >= MAX_ADDRESSES || addresses.includes(address))
        continue;
      all[prefix + addresses.length] = address;
      addresses.push(address);
    }
  }
  return all;
}

/** The main address of a guest: the first IPv4 address, otherwise the first IPv6 address. */
export function readMainAddress(networks: unknown): string | undefined {
  if (!isMap(networks)) return undefined;
  let firstIpv6: string | undefined;
  for (const key of sortedKeys(networks)) {
    const prefix = prefixOf(key);
    const value = networks[key];
    if (prefix === undefined || typeof value !== "string") continue;
    const [first] = addressesIn(value);
    if (prefix.endsWith("4/") && first !== undefined) return first;
    firstIpv6 ??= first;
  }
  return firstIpv6;
}

function sortedKeys(map: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(map);
  return keys.length > 1 ? keys.sort() : keys;
}

/** `0/ipv4/` for `0/ip` and `0/ipv4/1`; undefined for other keys (`0/mac`). */
function prefixOf(key: string): string | undefined {
  const slash = key.indexOf("/");
  if (slash <= 0) return undefined;
  for (let i = 0; i < slash; i++) {
    const code = key.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return undefined;
  }
  if (key.startsWith("ipv4/", slash + 1)) return key.slice(0, slash + 6);
  if (key.startsWith("ipv6/", slash + 1)) return key.slice(0, slash + 6);
  return key.length === slash + 3 && key.endsWith("ip")
    ? key.slice(0, slash) + "/ipv4/"
    : undefined;
}

/** Most values are a single address and need no split. */
function addressesIn(value: string): string[] {
  for (let i = 0; i < value.length; i++)
    if (value.charCodeAt(i) <= 0x20) return splitAtSpace(value);
  return value === "" ? [] : [value];
}

function splitAtSpace(value: string): string[] {
  return value
    .split(/\s+/, 4 * MAX_ADDRESSES)
    .filter((address) => address !== "");
}
