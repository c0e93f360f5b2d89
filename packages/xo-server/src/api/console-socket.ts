import type { WallClock } from "@xo-server/kit";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { XapiError, XoError, errorTable } from "@xo-server/model";
import type { FastifyInstance } from "fastify";
import { WebSocketServer } from "ws";
import { consoleKinds, type ConsoleKind } from "../consoles/console-target.js";
import type { Consoles } from "../consoles/consoles.js";
import type { Logger } from "../log/logger.js";
import { internalError } from "../operations/known-error.js";
import type { CallContext, Permission } from "../operations/operation.js";
import type { Authenticator } from "../auth/sign-in/authenticator.js";
import type { Tickets } from "../auth/sessions/tickets.js";
import type { LimitHits } from "../limits/limit-hits.js";
import type { ClientAddresses } from "./http/client-address.js";
import { RateLimits, toRateKey } from "../limits/rate-limits.js";
import { endWithResponse } from "./http/raw-response.js";
import { toCaller, toSessionCaller } from "./authentication/caller.js";
import { readCredentials } from "./authentication/credentials.js";
import { checkSameSite } from "./authentication/cross-site.js";
import { fromXapiError } from "../operations/xapi-errors.js";

export interface ConsoleSocketOptions {
  readonly consoles: Pick<Consoles, "describe" | "open" | "stop">;
  readonly authenticator: Authenticator | undefined;
  readonly tickets: Pick<Tickets, "redeem">;
  /** Permission of anonymous clients. */
  readonly permission: Permission;
  /** Console requests per second from one address. */
  readonly maxRequestsPerSecond: number;
  readonly clientAddresses: ClientAddresses;
  readonly hits: Pick<LimitHits, "count">;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** With `/api` as in Xen Orchestra, or without, as some proxies strip it. */
const PATHS = ["/api/consoles/:id", "/consoles/:id"];
const PATH = /^(?:\/api)?\/consoles\/([^/?#]+)\/?(?:\?(.*))?$/;

/** Requested by older clients of RFB over WebSocket. */
const SUBPROTOCOL = "binary";

/** Pasted text is one message; a key press has ten bytes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_FRAGMENTS = 1024;
const MAX_CHUNKS = 16 * 1024;

/** A console request, as a GET or as an upgrade. */
interface ConsoleRequest {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
}

/**
 * Consoles over WebSocket at `/api/consoles/<id>`, `?type=rfb` or `vt100`. Clients
 * authenticate by cookie, `Authorization` or `?ticket=`; errors are HTTP responses
 * to the upgrade. A plain GET returns which consoles can be opened, or the error,
 * because browsers do not expose the response to a failed upgrade.
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
    // Terminal data may be invalid UTF-8 and is passed on unchanged.
    skipUTF8Validation: true,
    handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
  });

  constructor(options: ConsoleSocketOptions) {
    this.#options = options;
    this.#rates = new RateLimits(options.maxRequestsPerSecond, options.clock);
  }

  /** Adds the route of the plain GET. */
  addRoutes(app: FastifyInstance): void {
    const { consoles } = this.#options;
    for (const path of PATHS)
      app.get(path, async ({ raw }, reply) => {
        reply.header("cache-control", "no-store");
        try {
          const request = readPath(raw)!;
          const context = await this.#callerOf(request);
          return consoles.describe(request.id, context);
        } catch (error) {
          const { status, body, headers } = this.#toAnswer(error as Error);
          return reply.code(status).headers(headers).send(body);
        }
      });
  }

  /** @returns false: the path is not that of a console */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const opening = readPath(request);
    if (opening === undefined) return false;
    void this.#open(opening, socket, head);
    return true;
  }

  stop(): Promise<void> {
    return this.#options.consoles.stop();
  }

  /** Never rejects. */
  async #open(
    opening: ConsoleRequest,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { consoles } = this.#options;
    const closed = new AbortController();
    socket.once("close", () => {
      closed.abort();
    });
    try {
      const context = await this.#callerOf(opening);
      const kind = readKind(opening.query);
      const opened = await consoles.open(
        { id: opening.id, kind, context },
        closed.signal,
      );
      let isAttached = false;
      const onClose = () => {
        if (!isAttached) opened.drop();
      };
      if (closed.signal.aborted) onClose();
      else {
        closed.signal.addEventListener("abort", onClose);
        this.#sockets.handleUpgrade(
          opening.request,
          socket,
          head,
          (attached) => {
            isAttached = true;
            opened.attach(attached);
          },
        );
      }
    } catch (error) {
      if (socket.destroyed) return;
      const { status, body, headers } = this.#toAnswer(error as Error);
      endWithResponse(socket, status, JSON.stringify(body), headers);
    }
  }

  /** @throws XoError TOO_MANY_REQUESTS, FORBIDDEN, CREDENTIALS_INVALID, INVALID_REQUEST */
  async #callerOf({ request, query }: ConsoleRequest): Promise<CallContext> {
    const { clientAddresses, authenticator, permission, tickets, hits } =
      this.#options;
    const { address, host } = clientAddresses.resolve(request);
    try {
      this.#rates.take(toRateKey(address), "one address");
    } catch (error) {
      hits.count("request_rate_address");
      throw error;
    }
    // Browsers send the cookie with cross-site upgrades, so the origin is checked as for changes.
    checkSameSite("CONNECT", { ...request.headers, host });
    const ticket = query.get("ticket");
    const { context } =
      ticket === null
        ? await toCaller(readCredentials(request.headers, undefined), address, {
            authenticator,
            anonymous: permission,
          })
        : toSessionCaller(await tickets.redeem(ticket), address, permission);
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
    const { logger } = this.#options;
    return internalError(error, "failed to open a console", logger);
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
    // Invalid percent-encoding: no object has such an id.
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
