import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { toNetwork } from "../../config/network.js";

/** A request as its caller made it: before any reverse proxy that is trusted. */
export interface ClientAddress {
  /** Without a port; IPv4 as IPv4. */
  readonly address: string;
  /** TLS as far as that proxy, or as far as here. */
  readonly isSecure: boolean;
  /** With the port where it is not the usual one. */
  readonly host: string | undefined;
}

/** What the nearest proxy says of one hop before it. */
interface Hop {
  readonly address: string | undefined;
  readonly proto: string | undefined;
  readonly host: string | undefined;
}

const outers = new WeakMap<IncomingMessage, ClientAddress>();

/** Found out once, by `OuterReader.note`, before a request goes anywhere. */
export function outerOf(request: IncomingMessage): ClientAddress {
  return outers.get(request) ?? toDirectAddress(request);
}

/** Tells who asks behind reverse proxies. What others say of themselves counts for nothing. */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #isEmpty: boolean;

  /** @param proxies addresses and networks, checked with the config */
  constructor(proxies: readonly string[]) {
    this.#isEmpty = proxies.length === 0;
    for (const text of proxies) {
      const network = toNetwork(text);
      if (network !== undefined)
        this.#trusted.addSubnet(network.address, network.bits, network.family);
    }
  }

  resolve(request: IncomingMessage): ClientAddress {
    const outer = this.#read(request);
    outers.set(request, outer);
    return outer;
  }

  #read(request: IncomingMessage): ClientAddress {
    const direct = toDirectAddress(request);
    if (this.#isEmpty || !this.#isTrusted(direct.address)) return direct;
    const claims = [
      readXForwarded(request.headers),
      readForwarded(request.headers.forwarded),
    ].filter((hops) => hops.length > 0);
    const [first, second] = claims.map((hops) => this.#follow(hops, direct));
    if (first === undefined) return direct;
    // A proxy sets one of the two; the other is its client's own and may be made up.
    const isDoubtful = second !== undefined && second.address !== first.address;
    return isDoubtful ? direct : first;
  }

  /** From hop to hop, as long as the one who tells is trusted. */
  #follow(hops: readonly Hop[], direct: ClientAddress): ClientAddress {
    let outer = direct;
    for (const { address, proto, host } of hops.toReversed()) {
      if (address === undefined || !this.#isTrusted(outer.address)) break;
      outer = {
        address,
        isSecure: proto === undefined ? outer.isSecure : proto === "https",
        host: host ?? outer.host,
      };
    }
    return outer;
  }

  #isTrusted(address: string): boolean {
    const version = isIP(address);
    if (version === 0) return false;
    return this.#trusted.check(address, version === 4 ? "ipv4" : "ipv6");
  }
}

function toDirectAddress({ socket, headers }: IncomingMessage): ClientAddress {
  return {
    address: normalise(socket.remoteAddress ?? ""),
    isSecure: (socket as Partial<TLSSocket>).encrypted === true,
    host: headers.host,
  };
}

/** An IPv4 address that came over an IPv6 socket is the same as over another. */
function normalise(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  return bare.toLowerCase();
}

type Headers = IncomingMessage["headers"];

/** Scheme and host are those of the whole way, as its last proxy tells them. */
function readXForwarded(headers: Headers): Hop[] {
  const proto = lastOf(headers["x-forwarded-proto"])?.toLowerCase();
  const host = lastOf(headers["x-forwarded-host"]);
  return listOf(headers["x-forwarded-for"]).map((text) => ({
    address: readNode(text),
    proto,
    host,
  }));
}

/** RFC 7239. */
function readForwarded(text: string | undefined): Hop[] {
  return listOf(text).map((element) => {
    const pairs = new Map(
      element.split(";").map((pair) => {
        const equals = pair.indexOf("=");
        const value = pair.slice(equals + 1).trim();
        return [
          pair.slice(0, Math.max(0, equals)).trim().toLowerCase(),
          value.replace(/^"(.*)"$/, "$1"),
        ] as const;
      }),
    );
    return {
      address: readNode(pairs.get("for") ?? ""),
      proto: pairs.get("proto")?.toLowerCase(),
      host: pairs.get("host"),
    };
  });
}

/** An address, with a port or without; undefined: a name that hides one, or nonsense. */
function readNode(text: string): string | undefined {
  const bare =
    /^\[([^\]]+)\](?::\w+)?$/.exec(text)?.[1] ??
    /^([\d.]+):\w+$/.exec(text)?.[1] ??
    text;
  return isIP(bare) === 0 ? undefined : normalise(bare);
}

function listOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text === "" ? [] : text.split(",").map((part) => part.trim());
}

function lastOf(header: string | string[] | undefined): string | undefined {
  return listOf(header).at(-1);
}
