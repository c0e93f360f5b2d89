import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import type { Duplex } from "node:stream";
import { RepositoryError } from "../errors.js";
import { dial, nameOf, type Address } from "./dial.js";
import type { HttpEndpoint } from "./http-endpoint.js";
import type { TlsTrust } from "./tls-trust.js";

const STALL_MS = 60_000;

interface HttpServerOptions {
  /** URL of any resource of the server. */
  readonly url: URL;
  readonly tls?: TlsTrust | undefined;
  /** See HttpEndpoint. */
  readonly socketPath?: string | undefined;
  readonly stallMs?: number | undefined;
  /** Whether connections are used again. */
  readonly keepAlive?: boolean;
}

interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is produced; the headers must hold its Content-Length. */
  readonly body?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The server may carry it out twice: it changes nothing there. Its body is an array. Default: false. */
  readonly isRepeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Requests to one HTTP server. No message holds a path, a query or a header. */
export class HttpClient {
  readonly name: string;
  readonly stallMs: number;
  readonly #address: Address;
  readonly #agent: Agent;

  constructor(options: HttpServerOptions) {
    const { url, tls, stallMs = STALL_MS, keepAlive = false } = options;
    const { socketPath } = options;
    const isSecure = url.protocol === "https:";
    if (!isSecure && url.protocol !== "http:")
      throw new RepositoryError(
        "invalid",
        `url: the protocol ${url.protocol} is not allowed, only http: and https:`,
      );
    if (!isSecure && tls !== undefined)
      throw new RepositoryError("invalid", "url: tls is set, but not https:");
    this.#address = {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || (isSecure ? 443 : 80)),
      socketPath,
    };
    this.name = nameOf(this.#address);
    this.stallMs = stallMs;
    const trust = isSecure ? (tls ?? {}) : undefined;
    this.#agent = new TrustedAgent(this.#address, { trust, keepAlive });
  }

  /**
   * Sends a request, its body included. A repeatable one is sent again if the server had closed an unused
   * connection.
   * @returns the response, whose body has not been read; any status
   * @throws RepositoryError `transfer-failed`, `untrusted`
   */
  async send(request: HttpRequest): Promise<IncomingMessage> {
    const { isRepeatable = false, signal } = request;
    for (;;)
      try {
        return await this.#send(request);
      } catch (error) {
        signal?.throwIfAborted();
        // Each time one unused connection less is left.
        if (error instanceof StaleConnection && isRepeatable) continue;
        throw this.failure(
          error instanceof StaleConnection ? error.cause : error,
        );
      }
  }

  async #send(request: HttpRequest): Promise<IncomingMessage> {
    const { method, path, headers = {}, body, signal } = request;
    signal?.throwIfAborted();
    const { host, port } = this.#address;
    const sent = httpRequest({
      agent: this.#agent,
      host,
      port,
      method,
      path,
      headers: { ...headers },
      ...(signal && { signal }),
    });
    const responded = responseOf(sent);
    // Reported by the callers that wait below.
    responded.catch(() => undefined);
    try {
      if (body === undefined) sent.end();
      else await this.#sendBody(sent, body);
      return await this.#withinStall(responded, sent);
    } catch (error) {
      signal?.throwIfAborted();
      sent.destroy();
      const isClosed = error instanceof ClosedEarly;
      const reason = isClosed ? await reasonOf(responded, error) : error;
      if (sent.reusedSocket && isClosedByPeer(reason))
        throw new StaleConnection("it was closed", { cause: reason });
      throw reason;
    }
  }

  /** The bytes of a response. @throws RepositoryError `transfer-failed` if it stalls or ends early */
  async *read(
    response: IncomingMessage,
    signal?: AbortSignal,
  ): AsyncGenerator<Buffer, void> {
    let isStalled = false;
    const wait = (): NodeJS.Timeout =>
      setTimeout(() => {
        isStalled = true;
        response.destroy();
      }, this.stallMs);
    let timer = wait();
    try {
      for await (const bytes of response as AsyncIterable<Buffer>) {
        // The time that the consumer takes does not count.
        clearTimeout(timer);
        signal?.throwIfAborted();
        yield bytes;
        timer = wait();
      }
      if (!response.complete) throw new Error("the response is incomplete");
    } catch (error) {
      signal?.throwIfAborted();
      throw this.failure(isStalled ? this.#stalled() : error);
    } finally {
      clearTimeout(timer);
      response.destroy();
    }
  }

  /** Idle connections are closed. */
  close(): void {
    this.#agent.destroy();
  }

  /** An error with the name of the server. */
  failure(error: unknown): RepositoryError {
    if (error instanceof RepositoryError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new RepositoryError("transfer-failed", `${this.name}: ${message}`, {
      cause: error,
    });
  }

  async #sendBody(
    sent: ClientRequest,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<void> {
    for await (const bytes of body) {
      if (sent.destroyed) throw new ClosedEarly();
      if (sent.write(bytes)) continue;
      await this.#withinStall(drained(sent), sent);
    }
    if (sent.destroyed) throw new ClosedEarly();
    await this.#withinStall(
      new Promise<void>((resolve, reject) => {
        sent.once("close", () => reject(new ClosedEarly()));
        sent.end(resolve);
      }),
      sent,
    );
  }

  async #withinStall<T>(promise: Promise<T>, sent: ClientRequest): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const stalled = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(this.#stalled());
        sent.destroy();
      }, this.stallMs);
    });
    try {
      return await Promise.race([promise, stalled]);
    } finally {
      clearTimeout(timer);
    }
  }

  #stalled(): Error {
    return new Error(`no byte within ${this.stallMs} ms`);
  }
}

/** A client for one endpoint, and what its requests have in common. @throws RepositoryError `invalid` */
export function openEndpoint({ url, headers, ...how }: HttpEndpoint): {
  client: HttpClient;
  path: string;
  headers: Readonly<Record<string, string>>;
} {
  const parsed = parseUrl(url);
  return {
    client: new HttpClient({ ...how, url: parsed }),
    path: parsed.pathname + parsed.search,
    headers: headers ?? {},
  };
}

/** @throws RepositoryError without the text: it may hold a session */
export function parseUrl(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new RepositoryError("invalid", "url: it is not a URL");
  }
}

/** For transfers of pools. @throws RepositoryError `transfer-failed` for every other status than 2xx */
export function checkStatus(name: string, response: IncomingMessage): void {
  const { statusCode = 0, headers } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  response.destroy();
  const to =
    headers.location === undefined ? "" : ` to ${hostOf(headers.location)}`;
  throw new RepositoryError(
    "transfer-failed",
    `${name}: it answers with status ${statusCode}${to}${meaningOf(statusCode)}`,
  );
}

/** What a status of a pool means to users. */
function meaningOf(statusCode: number): string {
  return statusCode === 401
    ? ": the session has ended, because the pool has another coordinator or its toolstack was restarted; start it again"
    : "";
}

function hostOf(location: string): string {
  try {
    return new URL(location).host;
  } catch {
    // A relative location.
    return "another path";
  }
}

/** A connection that was used before was closed by the server, before it responded. */
class StaleConnection extends Error {}

function isClosedByPeer(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE";
}

/** Connects by `dial`, so that certificates are verified before a request is sent. */
class TrustedAgent extends Agent {
  readonly #address: Address;
  readonly #trust: TlsTrust | undefined;

  constructor(
    address: Address,
    options: { trust: TlsTrust | undefined; keepAlive: boolean },
  ) {
    super({ keepAlive: options.keepAlive, maxFreeSockets: 8 });
    this.#address = address;
    this.#trust = options.trust;
  }

  override createConnection(
    _options: unknown,
    done?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    dial(this.#address, this.#trust).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
  }
}

function responseOf(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let begun: IncomingMessage | undefined;
    sent.once("response", (response) => {
      begun = response;
      resolve(response);
    });
    sent.on("error", (error) => {
      // Otherwise Node.js ends a body without a length as if it were complete.
      begun?.destroy(error);
      reject(error);
    });
    sent.once("close", () => reject(new ClosedEarly()));
  });
}

function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = (): void => {
      sent.off("close", onClose);
      resolve();
    };
    const onClose = (): void => {
      sent.off("drain", onDrain);
      reject(new ClosedEarly());
    };
    sent.once("drain", onDrain);
    sent.once("close", onClose);
  });
}

class ClosedEarly extends Error {
  constructor() {
    super("it closed the connection");
  }
}

/** Why a connection was closed: the error or the early response before it. */
async function reasonOf(
  responded: Promise<IncomingMessage>,
  closed: ClosedEarly,
): Promise<unknown> {
  try {
    const { statusCode = 0 } = await responded;
    if (statusCode < 300) return closed;
    return new Error(
      `it answers with status ${statusCode}${meaningOf(statusCode)}`,
    );
  } catch (error) {
    return error;
  }
}
