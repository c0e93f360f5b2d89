import { isMap } from "./values/maps.js";

/** Addresses of one family of one interface: a guest writes what it likes. */
const MOST_ADDRESSES = 256;

/**
 * A guest's addresses, from `networks` of its metrics: keys `N/ipv4/i` and
 * `N/ipv6/i`, i from 0. `N/ip` is the name that old guest tools use for a
 * version 4 address; a value may hold several, with white space between.
 */
export function readAddresses(networks: unknown): Record<string, string> {
  const addresses: Record<string, string> = {};
  if (!isMap(networks)) return addresses;
  const counts = new Map<string, string[]>();
  for (const key of sortedKeys(networks)) {
    const prefix = prefixOf(key);
    const value = networks[key];
    if (prefix === undefined || typeof value !== "string") continue;
    let known = counts.get(prefix);
    if (known === undefined) counts.set(prefix, (known = []));
    for (const address of addressesIn(value)) {
      if (known.length >= MOST_ADDRESSES || known.includes(address)) continue;
      addresses[prefix + known.length] = address;
      known.push(address);
    }
  }
  return addresses;
}

/** The address by which a guest is called: the first of version 4 in the order of keys, else of version 6. */
export function readMainAddress(networks: unknown): string | undefined {
  if (!isMap(networks)) return undefined;
  let sixth: string | undefined;
  for (const key of sortedKeys(networks)) {
    const prefix = prefixOf(key);
    const value = networks[key];
    if (prefix === undefined || typeof value !== "string") continue;
    const address = addressesIn(value)[0];
    if (address === undefined) continue;
    if (prefix.endsWith("4/")) return address;
    sixth ??= address;
  }
  return sixth;
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

/** Most values are one address: no need to split those. */
function addressesIn(value: string): string[] {
  for (let i = 0; i < value.length; i++)
    if (value.charCodeAt(i) <= 0x20) return splitAtSpace(value);
  return value === "" ? [] : [value];
}

function splitAtSpace(value: string): string[] {
  return value.split(/\s+/, 4 * MOST_ADDRESSES).filter((part) => part !== "");
}
