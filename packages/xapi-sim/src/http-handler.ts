import type { Duplex } from "node:stream";
import type { CallContext, TaskContext } from "./operation.js";

/** A request to a handler other than RPC. */
export interface HandlerRequest {
  readonly method: string;
  /** Path without query, as sent (percent-decoded). */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly version: "1.0" | "1.1";
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined where the request has no Content-Length. */
  readonly contentLength: number | undefined;
  /** The body as it arrives; ends after contentLength bytes (without one: with the connection). */
  body(): AsyncIterable<Buffer>;
}

/**
 * The way back to the client. Use exactly one of `reply`, `start`, `raw`; a
 * handler that returns without any has the connection closed.
 */
export interface HandlerResponse {
  /**
   * A complete response with `content-length`. The default status text is
   * XAPI's. Headers are written in order, with their case, before
   * content-length; the connection is closed after it unless keepAlive.
   */
  reply(answer: HandlerAnswer): void;
  /** XAPI's bare error header block: Connection: close, Cache-Control, no length, no body. */
  bare(status: number, headers?: readonly (readonly [string, string])[]): void;
  /** XAPI's HTML page for an uncaught OCaml exception (500). `exception` in OCaml's notation. */
  crash(exception: string): void;
  /**
   * Writes a head (by default `HTTP/1.0 200 OK`, without length) and gives the stream for the
   * body, which ends with the connection: `end()` it.
   */
  start(head: HandlerHead): NodeJS.WritableStream;
  /**
   * The connection ends when the task has: reset where it is plain TCP, as a system
   * does that closes a connection with unread bytes. Only after `start`.
   */
  endUnread(): void;
  /** The bare connection, both ways, after writing these head bytes: consoles. The request's leftover bytes come first. */
  raw(head: string): Duplex;
}

export interface HandlerHead {
  readonly version?: "1.0" | "1.1";
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
}

interface HandlerAnswer extends HandlerHead {
  readonly body: string | Buffer;
  readonly keepAlive?: boolean;
}

/** Like an operation's context, with the task always there. */
export interface HandlerContext extends CallContext {
  /**
   * The task of `task_id=`, or a new one. It is completed by the server: with
   * `result` when the handler returns, failed when it throws XapiFailure
   * (wrapped as XAPI does).
   */
  readonly task: TaskContext & {
    /** The task's result, an XML-RPC fragment: `<value>..</value>`. */
    result(fragment: string): void;
  };
  /** The host that serves this request: the coordinator or a member with a listener. */
  readonly hostRef: string;
}

/** One row of the table of HTTP handlers. */
export interface HttpHandler {
  /** Name of the realm in 401 answers: `get_export`, as in the datamodel's httpActions. */
  readonly name: string;
  readonly method: "GET" | "PUT" | "POST" | "CONNECT";
  /** Matched as prefix; the longest match is used. */
  readonly path: string;
  /**
   * `none`: no credentials required. Default: session (cookie, query), pool secret or Basic,
   * checked before `handle`.
   */
  readonly credentials?: "session" | "none";
  /** No task is made for the request (rrd, console, static pages). Default false. */
  readonly taskless?: boolean;
  handle(
    request: HandlerRequest,
    response: HandlerResponse,
    context: HandlerContext,
  ): void | Promise<void>;
}
