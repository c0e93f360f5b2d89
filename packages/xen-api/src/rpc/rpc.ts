import type { MonotonicClock } from "@xo-server/kit";
import {
  XoError,
  type AnswerShape,
  type DecodedAnswer,
  type DecodePriority,
  type RecordBatch,
  type WireEncoding,
} from "@xo-server/model";
import type { Decoder, DecodeStream } from "../decoder.js";
import { addressName, type Address } from "../http/address.js";
import type { Connection } from "../http/connection.js";
import type { ConnectionPool } from "../http/connection-pool.js";
import { CancellationScope } from "./cancellation-scope.js";
import { ErrorPage } from "../http/error-page.js";
import { MAX_REQUEST_BODY_BYTES, requestHead } from "../http/request-head.js";
import { bodyEnd, type ResponseHead } from "../http/response-head.js";
import type { Transport } from "../transports/transport.js";

/** One call on the wire, session included. */
export interface RpcRequest {
  readonly address: Address;
  readonly transport: Transport;
  /** Encoding in which the pool answers on this transport, if known. */
  readonly encoding?: WireEncoding | undefined;
  readonly method: string;
  /** Session first where the method takes one. */
  readonly params: readonly unknown[];
  readonly shape: AnswerShape;
  readonly className?: string | undefined;
  readonly priority: DecodePriority;
  /** See DecodeRequest. */
  readonly isKept?: boolean | undefined;
  /** Time limit of the call. Default: none, only `signal` ends it. */
  readonly timeoutMs?: number | undefined;
  /** Time limit until the answer begins to arrive, in ms. Default: none. */
  readonly startTimeoutMs?: number | undefined;
  /** Time limit without a byte of an answer that has begun, in ms; noticed after up to one and a half times as long. Default: none. */
  readonly stallTimeoutMs?: number | undefined;
  /** The call rejects with the abort reason if that is an XoError, else with ABORTED. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the answer begins to arrive. */
  readonly onAnswerStart?: (() => void) | undefined;
  readonly onBatch?: ((batch: RecordBatch) => void) | undefined;
  /** See SendOptions. */
  readonly beforeSend?: (() => void) | undefined;
  /** Besides those that each request has. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default false: an idle connection may be reused. */
  readonly isOnNewConnection?: boolean;
  /** May be sent again when a reused connection turns out to be closed. */
  readonly isIdempotent: boolean;
}

export interface RpcAnswer {
  readonly answer: DecodedAnswer;
  /** Size of the body, in bytes. */
  readonly bytes: number;
}

interface RpcOptions {
  readonly decoder: Decoder;
  readonly clock: MonotonicClock;
  /** Maximum size of an answer that lists records or events, in bytes. */
  readonly maxBodyBytes: number;
  /** Maximum size of any other answer, in bytes. */
  readonly maxValueBytes: number;
  /** See DecodeRequest.lane. */
  readonly lane: string;
}

/** Sends single calls and decodes the answers. Has no session; retries only idempotent calls on a stale connection. */
export class Rpc {
  readonly #connections: ConnectionPool;
  readonly #options: RpcOptions;

  constructor(connections: ConnectionPool, options: RpcOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  /** @throws XoError; errors of XAPI are part of the answer */
  async send(request: RpcRequest): Promise<RpcAnswer> {
    const message = encode(request);
    const scope = new CancellationScope(request, this.#options.clock);
    try {
      const reuse = request.isIdempotent ? "any" : "recent";
      const first = await this.#attempt(
        request,
        message,
        scope,
        request.isOnNewConnection === true ? "never" : reuse,
      );
      return first ?? (await this.#attempt(request, message, scope, "never"))!;
    } catch (error) {
      if (isTimeout(scope.reason)) this.#connections.dropIdle(request.address);
      throw scope.reason ?? error;
    } finally {
      scope.release();
    }
  }

  /** @returns undefined: the reused connection was closed, or not read any more; try a new one */
  async #attempt(
    request: RpcRequest,
    message: readonly (string | Uint8Array)[],
    scope: CancellationScope,
    reuse: "any" | "recent" | "never",
  ): Promise<RpcAnswer | undefined> {
    const { maxBodyBytes, maxValueBytes } = this.#options;
    scope.throwIfCancelled();
    const { connection, isReused } = await this.#connections.acquire(
      request.address,
      reuse,
      scope.signal,
    );
    const reader = new AnswerReader(request, this.#options, connection);
    let isReleased = false;
    // Once: afterwards other calls use it, while the decoder may still work on this answer.
    const release = () => {
      if (!isReleased) this.#connections.release(request.address, connection);
      isReleased = true;
    };
    scope.onCancel = (reason) => {
      if (!isReleased) connection.destroy(reason);
      reader.abort(reason);
    };
    try {
      scope.throwIfCancelled();
      request.beforeSend?.();
      const bytes = await connection.run({
        request: message,
        isIdempotent: request.isIdempotent,
        onHead: (head) => {
          scope.onAnswerStart(connection);
          return reader.open(head);
        },
        maxBodyBytes:
          request.shape === "value"
            ? Math.min(maxBodyBytes, maxValueBytes)
            : maxBodyBytes,
      });
      release();
      return { answer: await reader.end(), bytes };
    } catch (error) {
      release();
      reader.abort(error as Error);
      const isStale =
        isReused && connection.receivedBytes === 0 && isLost(error);
      const mayRepeat =
        (isStale && request.isIdempotent) || (isReused && isUnread(error));
      if (mayRepeat && scope.reason === undefined) return undefined;
      throw error;
    } finally {
      scope.onCancel = undefined;
    }
  }
}

/**
 * 408: the pool has waited too long for a complete request [RFC 9110, 15.5.9], on a connection that was idle. What
 * was sent to it at the same moment was not read, and not carried out.
 */
function isUnread(error: unknown): boolean {
  return (
    error instanceof XoError &&
    error.code === "HTTP_STATUS" &&
    Number(error.data["status"]) === 408
  );
}

/** Reads one answer: chooses the decoder of the body by its head. */
class AnswerReader {
  readonly #request: RpcRequest;
  readonly #options: RpcOptions;
  readonly #connection: Connection;
  #stream: DecodeStream | undefined;
  #page: ErrorPage | undefined;
  #isReading = true;

  constructor(
    request: RpcRequest,
    options: RpcOptions,
    connection: Connection,
  ) {
    this.#request = request;
    this.#options = options;
    this.#connection = connection;
  }

  open(head: ResponseHead): DecodeStream | ErrorPage {
    this.#request.onAnswerStart?.();
    if (head.status !== 200) {
      this.#page = new ErrorPage(addressName(this.#request.address), head);
      return this.#page;
    }
    const { transport, shape, className, priority, isKept, onBatch } =
      this.#request;
    // A host without /jsonrpc answers there with its XML-RPC handler.
    if (
      transport.name === "json-rpc" &&
      (head.headers.get("content-type") ?? "").includes("xml")
    ) {
      const reason = "the pool answers in XML";
      throw new XoError("UNSUPPORTED", { what: transport.name, reason });
    }
    const end = bodyEnd(head);
    this.#stream = this.#options.decoder.open(
      {
        encoding: this.#request.encoding ?? transport.encoding,
        shape,
        priority,
        isKept,
        lane: this.#options.lane,
        ...(className === undefined ? {} : { className }),
        ...(end.by === "length" ? { contentLength: end.length } : {}),
      },
      {
        ...(onBatch === undefined ? {} : { onBatch }),
        onDrain: () => {
          // After `end` the connection may already serve another call.
          if (this.#isReading) this.#connection.resume();
        },
        onError: (error) => {
          if (this.#isReading) this.#connection.destroy(error);
        },
      },
    );
    return this.#stream;
  }

  end(): Promise<DecodedAnswer> {
    this.#isReading = false;
    if (this.#page !== undefined) throw this.#page.toError();
    return this.#stream!.end();
  }

  abort(reason: Error): void {
    this.#isReading = false;
    this.#stream?.abort(reason);
  }
}

function encode(request: RpcRequest): readonly (string | Uint8Array)[] {
  const { address, transport, method, params, headers } = request;
  const body = transport.encode(method, params);
  if (body.length > MAX_REQUEST_BODY_BYTES) {
    const limit = MAX_REQUEST_BODY_BYTES;
    throw new XoError("REQUEST_TOO_LARGE", {
      method,
      bytes: body.length,
      limit,
    });
  }
  const head = requestHead(address, {
    method: "POST",
    target: transport.path,
    headers: {
      "Content-Type": transport.contentType,
      "Content-Length": String(body.length),
      ...headers,
    },
  });
  return [head, body];
}

function isLost(error: unknown): boolean {
  return error instanceof XoError && error.code === "CONNECTION_LOST";
}

function isTimeout(error: unknown): boolean {
  return error instanceof XoError && error.code === "CALL_TIMEOUT";
}
