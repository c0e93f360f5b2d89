import { BlockList, isIP } from "node:net";
import { toNetwork } from "../config/network.js";

/** Addresses that are not public (RFC 6890 and its registries). */
const PRIVATE_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/** Public IPv6 addresses, and those among them that contain IPv4 addresses or are for documentation. */
const GLOBAL_IPV6 = ["2000::/3"];
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const privateIpv4 = toList(PRIVATE_IPV4);
const globalIpv6 = toList(GLOBAL_IPV6);
const specialIpv6 = toList(SPECIAL_IPV6);

/** Addresses from which files may be fetched: public ones, and those of the networks of the config. */
export class ReachableAddresses {
  readonly #allowed: BlockList;

  /** @param networks validated with the config */
  constructor(networks: readonly string[]) {
    this.#allowed = toList(networks);
  }

  has(address: string): boolean {
    if (isIP(address) === 4)
      return (
        !privateIpv4.check(address, "ipv4") ||
        this.#allowed.check(address, "ipv4")
      );
    const isPublic =
      globalIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
    return isPublic || this.#allowed.check(address, "ipv6");
  }
}

function toList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const network = toNetwork(text);
    if (network !== undefined)
      list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
}
