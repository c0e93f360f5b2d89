import { isIP } from "node:net";

/** An IP network: addresses with the same first `bits`. */
interface Network {
  readonly address: string;
  readonly family: "ipv4" | "ipv6";
  readonly bits: number;
}

/** Parses an address or a network such as `10.0.0.0/8`; undefined: invalid. */
export function toNetwork(text: string): Network | undefined {
  const [, address = "", bitsText] =
    /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const most = version === 4 ? 32 : 128;
  const bits = bitsText === undefined ? most : Number(bitsText);
  if (bits > most) return undefined;
  return { address, family: version === 4 ? "ipv4" : "ipv6", bits };
}
