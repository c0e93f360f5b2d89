import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { toNetwork } from "../../config/network.js";

/** Where a request comes from, behind trusted reverse proxies. */
interface ClientAddress {
  /** Without port; IPv4-mapped IPv6 addresses as IPv4. */
  readonly address: string;
  /** Whether the client uses TLS, to the outermost trusted proxy or to this server. */
  readonly isSecure: boolean;
  /** Host header, with the port unless it is the default one. */
  readonly host: string | undefined;
}

/** One hop of a Forwarded or X-Forwarded-* header. */
interface Hop {
  readonly address: string | undefined;
  readonly proto: string | undefined;
  readonly host: string | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the first `onRequest` hook of the server. */
    clientAddress: ClientAddress;
  }
}

/** Resolves client addresses. Forwarded headers count only if they come from a trusted proxy. */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #isEmpty: boolean;

  /** @param proxies addresses and networks, validated with the config */
  constructor(proxies: readonly string[]) {
    this.#isEmpty = proxies.length === 0;
    for (const text of proxies) {
      const network = toNetwork(text);
      if (network !== undefined)
        this.#trusted.addSubnet(network.address, network.bits, network.family);
    }
  }

  resolve(request: IncomingMessage): ClientAddress {
    const direct = toDirectAddress(request);
    if (this.#isEmpty || !this.#isTrusted(direct.address)) return direct;
    const claims = [
      readXForwarded(request.headers),
      readForwarded(request.headers.forwarded),
    ].filter((hops) => hops.length > 0);
    const [first, second] = claims.map((hops) => this.#follow(hops, direct));
    if (first === undefined) return direct;
    // A proxy sets one of the two headers; the other may be forged by the client.
    const isAmbiguous =
      second !== undefined && second.address !== first.address;
    return isAmbiguous ? direct : first;
  }

  /** Follows the hops from the nearest one while they are trusted. */
  #follow(hops: readonly Hop[], direct: ClientAddress): ClientAddress {
    let client = direct;
    for (const { address, proto, host } of hops.toReversed()) {
      if (address === undefined || !this.#isTrusted(client.address)) break;
      client = {
        address,
        isSecure: proto === undefined ? client.isSecure : proto === "https",
        host: host ?? client.host,
      };
    }
    return client;
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

/** IPv4-mapped IPv6 addresses as IPv4, without zone, in lower case. */
function normalise(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  return bare.toLowerCase();
}

type Headers = IncomingMessage["headers"];

/** Scheme and host are those that the nearest proxy sent. */
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

/** An address with or without port; undefined: an obfuscated identifier or invalid. */
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
