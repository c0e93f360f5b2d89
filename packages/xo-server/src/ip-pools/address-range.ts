import { isIP } from "node:net";
import { XoError } from "@xo-server/model";
import { toNetwork } from "../config/network.js";

type AddressFamily = "ipv4" | "ipv6";

/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly family: AddressFamily;
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Parses an address, a range `10.0.0.10-10.0.0.99`, or a network `10.0.1.0/24`. The
 * first and last address of an IPv4 network are left out.
 * @throws XoError INVALID_PARAMETERS
 */
export function parseRange(text: string): AddressRange {
  const [from = "", to, ...rest] = text.split("-").map((part) => part.trim());
  const range = to === undefined ? ofNetwork(from) : between(from, to);
  if (range !== undefined && rest.length === 0) return range;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `${text} is not an IP address, a range (10.0.0.10-10.0.0.99) or a network (10.0.1.0/24)`,
  });
}

/** Number of addresses; bigint, because of IPv6. */
export function sizeOf({ first, last }: AddressRange): bigint {
  return last - first + 1n;
}

/** Whether the address is in the range; false also if the text is not an address. */
export function contains(
  { family, first, last }: AddressRange,
  address: string,
): boolean {
  const value = toValue(address);
  return (
    value !== undefined &&
    familyOf(address) === family &&
    value >= first &&
    value <= last
  );
}

/**
 * The first free address.
 * @param taken canonical addresses
 * @returns undefined: no address is free
 */
export function firstFree(
  { family, first, last }: AddressRange,
  taken: ReadonlySet<string>,
): string | undefined {
  for (let value = first; value <= last; value++) {
    const address = toAddress(value, family);
    if (!taken.has(address)) return address;
  }
  return undefined;
}

/** The canonical form of an address; undefined: the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  const value = toValue(text);
  return value === undefined ? undefined : toAddress(value, familyOf(text));
}

function between(from: string, to: string): AddressRange | undefined {
  const [first, last] = [toValue(from), toValue(to)];
  const isRange = first !== undefined && last !== undefined && first <= last;
  return isRange && familyOf(from) === familyOf(to)
    ? { family: familyOf(from), first, last }
    : undefined;
}

function ofNetwork(text: string): AddressRange | undefined {
  const network = toNetwork(text);
  if (network === undefined) return undefined;
  const { address, family, bits } = network;
  const value = toValue(address);
  if (value === undefined) return undefined;
  const size = 1n << BigInt((family === "ipv4" ? 32 : 128) - bits);
  const first = value - (value % size);
  const last = first + size - 1n;
  // Leaves out the network address and the broadcast address.
  const hasSpecial = family === "ipv4" && size > 2n;
  return hasSpecial
    ? { family, first: first + 1n, last: last - 1n }
    : { family, first, last };
}

function familyOf(address: string): AddressFamily {
  return address.includes(":") ? "ipv6" : "ipv4";
}

function toValue(address: string): bigint | undefined {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return undefined;
  if (version === 4)
    return address
      .split(".")
      .reduce((value, part) => value * 256n + BigInt(part), 0n);
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname
    .slice(1, -1)
    .split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].reduce(
    (value, group) => value * 65_536n + BigInt(`0x${group}`),
    0n,
  );
}

function toAddress(value: bigint, family: AddressFamily): string {
  if (family === "ipv4")
    return [24n, 16n, 8n, 0n]
      .map((bits) => String((value >> bits) & 255n))
      .join(".");
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((value >> BigInt(16 * (7 - i))) & 65_535n).toString(16),
  );
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}
