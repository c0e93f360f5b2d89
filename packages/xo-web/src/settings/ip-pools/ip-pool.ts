/** An IP pool as `ipPool.getAll` returns it. */
export interface IpPool {
  readonly id: string;
  readonly name: string;
  /** Ids of networks. */
  readonly networks: readonly string[];
  /** Addresses, ranges and networks. */
  readonly addresses: readonly string[];
  readonly total: number;
  readonly used: number;
}

/** The addresses of a text: separated by white space or commas; a range may have spaces. */
export function toAddresses(text: string): string[] {
  return text
    .replace(/\s*-\s*/g, "-")
    .split(/[\s,;]+/)
    .filter((one) => one !== "");
}
