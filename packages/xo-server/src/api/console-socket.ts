import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { XapiError, XoError, errorTable } from "@xo-server/model";
import type { FastifyInstance } from "fastify";
import { WebSocketServer } from "ws";
import type { Clock } from "../clock.js";
import { consoleKinds, type ConsoleKind } from "../consoles/console-target.js";
import type { Consoles } from "../consoles/consoles.js";
import type { Logger } from "../log/logger.js";
import type { CallContext, Permission } from "../operations/operation.js";
import type { Authenticator } from "../auth/authenticator.js";
import type { Tickets } from "../auth/tickets.js";
import type { LimitHits } from "../limits/limit-hits.js";
import type { ClientAddresses } from "./http/client-address.js";
import { RateLimits, toRateKey } from "../limits/rate-limits.js";
import { endWithResponse } from "./http/raw-response.js";
import { toCaller, toSessionCaller } from "./authentication/caller.js";
import { readCredentials } from "./authentication/credentials.js";
import { checkSameSite } from "./authentication/cross-site.js";
import { fromXapiError } from "./errors/xapi-errors.js";

export interface ConsoleSocketOptions {
  readonly consoles: Pick<Consoles, "describe" | "open" | "stop">;
  readonly authenticator: Authenticator | undefined;
  readonly tickets: Pick<Tickets, "redeem">;
  /** Of who has not signed in. */
  readonly permission: Permission;
  /** Consoles that one address may ask for a second. */
  readonly maxRequestsPerSecond: number;
  readonly clientAddresses: ClientAddresses;
  readonly hits: Pick<LimitHits, "count">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** With `/api` as the reference has it, or without: proxies take it away. */
const PATHS = ["/api/consoles/:id", "/consoles/:id"];
const PATH = /^(?:\/api)?\/consoles\/([^/?#]+)\/?(?:\?(.*))?$/;

/** What clients of RFB over WebSocket used to ask for. */
const SUBPROTOCOL = "binary";

/** A text that is pasted, in one message; keys have ten bytes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_FRAGMENTS = 1024;
const MAX_CHUNKS = 16 * 1024;

/** A request for a console, of either kind. */
interface ConsoleRequest {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
}

/**
 * Consoles over WebSocket at `/api/consoles/<id>`, `?type=rfb` or `vt100`. Who
 * asks is known by a cookie, by `Authorization` or by `?ticket=`; all refusals
 * are HTTP answers, before there is a WebSocket. A plain GET there tells what
 * could be opened, or why nothing can: browsers do not say why an upgrade failed.
 */
export class ConsoleSocket {
  readonly #options: ConsoleSocketOptions;
  readonly #rates: RateLimits;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    perMessageDeflate: false,
    // Text goes to a terminal as it comes.
    skipUTF8Validation: true,
    handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
  });

  constructor(options: ConsoleSocketOptions) {
    this.#options = options;
    this.#rates = new RateLimits(options.maxRequestsPerSecond, options.clock);
  }

  /** The plain GET. */
  addRoutes(app: FastifyInstance): void {
    const { consoles } = this.#options;
    for (const path of PATHS)
      app.get(path, async ({ raw }, reply) => {
        reply.header("cache-control", "no-store");
        try {
          const asked = readPath(raw)!;
          const context = await this.#callerOf(asked);
          return consoles.describe(asked.id, context);
        } catch (error) {
          const { status, body, headers } = this.#toAnswer(error as Error);
          return reply.code(status).headers(headers).send(body);
        }
      });
  }

  /** @returns false: the path is another's */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const asked = readPath(request);
    if (asked === undefined) return false;
    void this.#open(asked, socket, head);
    return true;
  }

  stop(): Promise<void> {
    return this.#options.consoles.stop();
  }

  /** Never rejects. */
  async #open(
    asked: ConsoleRequest,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { consoles } = this.#options;
    const gone = new AbortController();
    socket.once("close", () => {
      gone.abort();
    });
    try {
      const context = await this.#callerOf(asked);
      const kind = readKind(asked.query);
      const opened = await consoles.open(
        { id: asked.id, kind, context },
        gone.signal,
      );
      let isAttached = false;
      const dropped = () => {
        if (!isAttached) opened.drop();
      };
      if (gone.signal.aborted) dropped();
      else {
        gone.signal.addEventListener("abort", dropped);
        this.#sockets.handleUpgrade(asked.request, socket, head, (attached) => {
          isAttached = true;
          opened.attach(attached);
        });
      }
    } catch (error) {
      if (socket.destroyed) return;
      const { status, body, headers } = this.#toAnswer(error as Error);
      endWithResponse(socket, status, JSON.stringify(body), headers);
    }
  }

  /** @throws XoError TOO_MANY_REQUESTS, FORBIDDEN, CREDENTIALS_INVALID, INVALID_REQUEST */
  async #callerOf({ request, query }: ConsoleRequest): Promise<CallContext> {
    const {
      clientAddresses: outers,
      authenticator,
      permission,
      tickets,
      hits,
    } = this.#options;
    const { address, host } = outers.resolve(request);
    try {
      this.#rates.take(toRateKey(address), "one address");
    } catch (error) {
      hits.count("request_rate_address");
      throw error;
    }
    // The browser sends its cookie whoever's page asks: as for what changes something.
    checkSameSite("CONNECT", { ...request.headers, host });
    const ticket = query.get("ticket");
    const { context } =
      ticket === null
        ? await toCaller(readCredentials(request.headers, undefined), address, {
            authenticator,
            anonymous: permission,
          })
        : toSessionCaller(tickets.redeem(ticket), address, permission);
    return context;
  }

  #toAnswer(error: Error) {
    const { code, message, data } = this.#toKnown(error);
    const ms = data["retryAfterMs"];
    return {
      status: errorTable[code].http,
      body: { code, message, data },
      headers: {
        "content-type": "application/json; charset=utf-8",
        ...(typeof ms === "number"
          ? { "retry-after": String(Math.ceil(ms / 1000)) }
          : {}),
      },
    };
  }

  #toKnown(error: Error): XoError {
    if (error instanceof XoError) return error;
    const known =
      error instanceof XapiError
        ? fromXapiError(error, () => undefined)
        : undefined;
    if (known !== undefined) return known;
    this.#options.logger.error("a console could not be opened", { error });
    return new XoError("INTERNAL", { reason: "the server's log tells more" });
  }
}

function readPath(request: IncomingMessage): ConsoleRequest | undefined {
  const match = PATH.exec(request.url ?? "");
  if (match === null) return undefined;
  const [, id = "", query] = match;
  return { id: decode(id), query: new URLSearchParams(query), request };
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** @throws XoError INVALID_PARAMETERS */
function readKind(query: URLSearchParams): ConsoleKind {
  const type = query.get("type") ?? "rfb";
  const kind = consoleKinds.find((one) => one === type);
  if (kind !== undefined) return kind;
  const reason = `type must be ${consoleKinds.join(" or ")}`;
  throw new XoError("INVALID_PARAMETERS", { reason });
}
