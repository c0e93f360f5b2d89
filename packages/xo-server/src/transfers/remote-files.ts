import { lookup } from "node:dns";
import { once } from "node:events";
import {
  request as requestByHttp,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { request as requestByHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { XoError } from "@xo-server/model";
import { urlHost } from "../config/url-host.js";
import { ReachableAddresses } from "./reachable-addresses.js";
import type { Delivery } from "./transfer.js";

/** Redirects that are followed. */
const MAX_REDIRECTS = 5;
/** Time for the headers of a response, in ms. */
const RESPONSE_MS = 30_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface RemoteFilesOptions {
  /** Private networks that files may be fetched from. */
  readonly networks: readonly string[];
  /** As `dns.lookup`. */
  readonly lookup?: typeof lookup;
}

/**
 * Fetches files of other servers. The address that a name resolves to is checked, and connected to, for
 * each request: a name cannot resolve to another address afterwards.
 */
export class RemoteFiles {
  readonly #addresses: ReachableAddresses;
  readonly #lookup: typeof lookup;

  constructor(options: RemoteFilesOptions) {
    this.#addresses = new ReachableAddresses(options.networks);
    this.#lookup = options.lookup ?? lookup;
  }

  /**
   * Begins to fetch a file. Errors name the host alone: the rest of a URL may be secret.
   * @throws XoError INVALID_PARAMETERS: not such a URL; UNREACHABLE also for refused addresses and any status but 200
   */
  async open(text: string, signal: AbortSignal): Promise<Delivery> {
    let url = toUrl(text);
    for (let redirects = 0; ; redirects++) {
      const response = await this.#request(url, signal);
      const { statusCode = 0, headers } = response;
      if (statusCode === 200) return toDelivery(response, url);
      response.destroy();
      if (!REDIRECTS.has(statusCode) || headers.location === undefined)
        throw unreachable(url, `HTTP status ${statusCode}`);
      if (redirects === MAX_REDIRECTS)
        throw unreachable(url, `more than ${MAX_REDIRECTS} redirects`);
      url = nextUrl(url, headers.location);
    }
  }

  async #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const host = urlHost(url);
    // An address is not looked up.
    if (isIP(host) !== 0) this.#check(url, host);
    const send = url.protocol === "https:" ? requestByHttps : requestByHttp;
    const request: ClientRequest = send(url, {
      agent: false,
      lookup: this.#checkedLookup(url),
      headers: { "accept-encoding": "identity", "user-agent": "xo-server" },
      signal,
    });
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer within ${RESPONSE_MS} ms`)),
      RESPONSE_MS,
    );
    try {
      request.end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return response;
    } catch (error) {
      if (error instanceof XoError || signal.aborted) throw error;
      throw unreachable(url, (error as Error).message);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves names to the addresses that are allowed. */
  #checkedLookup(url: URL): LookupFunction {
    return (name, options, done) => {
      this.#lookup(name, { ...options, all: true }, (error, found) => {
        const [first, ...more] = error
          ? []
          : found.filter(({ address }) => this.#addresses.has(address));
        if (error) done(error, "");
        else if (first === undefined) done(refused(url), "");
        else if (options.all === true) done(null, [first, ...more]);
        else done(null, first.address, first.family);
      });
    };
  }

  #check(url: URL, address: string): void {
    if (!this.#addresses.has(address)) throw refused(url);
  }
}

/** @throws XoError INVALID_PARAMETERS */
function toUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWeb(url))
    throw new XoError("INVALID_PARAMETERS", {
      reason: "url must begin with http:// or https://",
    });
  if (url.username !== "" || url.password !== "")
    throw new XoError("INVALID_PARAMETERS", {
      reason: "url must not contain a user name or a password",
    });
  return url;
}

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

/** @throws XoError UNREACHABLE */
function nextUrl(from: URL, location: string): URL {
  const next = URL.canParse(location, from.href)
    ? new URL(location, from)
    : undefined;
  if (next === undefined || !isWeb(next))
    throw unreachable(from, "it redirects to an invalid address");
  if (from.protocol === "https:" && next.protocol === "http:")
    throw unreachable(from, "it redirects from HTTPS to HTTP");
  return next;
}

/** @throws XoError UNREACHABLE */
function toDelivery(response: IncomingMessage, url: URL): Delivery {
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    response.destroy();
    throw unreachable(url, `it sends the file with the encoding ${encoding}`);
  }
  const length = Number(response.headers["content-length"]);
  return {
    body: response,
    length: Number.isSafeInteger(length) ? length : undefined,
  };
}

function refused(url: URL): XoError {
  return unreachable(
    url,
    "its address is private, and not in a network of imports.networks (config.yaml)",
  );
}

function unreachable({ host: address }: URL, reason: string): XoError {
  return new XoError("UNREACHABLE", { address, reason });
}
