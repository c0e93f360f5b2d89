import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import type { HandlerRequest, HandlerResponse } from "../http-handler.js";
import type { TaskContext } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import { gather } from "./body-writer.js";
import { crashed } from "./error-pages.js";
import {
  EndedEarly,
  FaultyTransfer,
  type TransferConnection,
} from "./faulty-transfer.js";
import type { FaultyWriter } from "./faulty-writer.js";
import { bodyLength, headText, type Header } from "./reply.js";
import type { RequestHead } from "./request-head.js";
import type { SocketReader } from "./socket-reader.js";
import { TransferStream } from "./transfer-stream.js";

export interface HandlerIo {
  readonly reader: SocketReader;
  readonly writer: FaultyWriter;
  readonly socket: Socket;
  readonly hostRef: string;
  readonly closed: AbortSignal;
  /** The host has stopped to answer. */
  isSilent(): boolean;
}

/** How a handler's request and response are served: the task that can be cancelled, the faults. */
interface HandlerExchange {
  readonly head: RequestHead;
  readonly io: HandlerIo;
  readonly task: Pick<TaskContext, "ref" | "signal"> | undefined;
  readonly connection: TransferConnection;
  /** `http/get_export` */
  readonly method: string;
}

/** Of an upload that is not read to its end: more breaks the connection. */
const MAX_DISCARDED_BYTES = 64 * 2 ** 20;

/** Faults meet what the client sends where it sends something, else what it receives. */
function sends({ head }: HandlerExchange): boolean {
  return head.method === "PUT" || head.method === "POST";
}

/**
 * The request as a handler gets it. Its body ends where the client ends it, or
 * after `content-length` bytes.
 * The body throws XapiFailure TASK_CANCELLED when the task is cancelled,
 * VDI_IO_ERROR for an injected fault.
 */
export function toRequest(exchange: HandlerExchange): HandlerRequest {
  const { head, io, task, connection } = exchange;
  const { method, path, query, version, headers, contentLength } = head;
  return {
    method,
    path,
    query,
    version,
    headers,
    contentLength,
    async *body() {
      const transfer = new FaultyTransfer(
        connection,
        sends(exchange) ? exchange.method : undefined,
      );
      let left = contentLength ?? Infinity;
      while (left > 0) {
        const part = await io.reader.some(Math.min(left, 1 << 20));
        if (task?.signal.aborted === true)
          throw new XapiFailure("TASK_CANCELLED", [task.ref]);
        if (part === undefined) return;
        left -= part.length;
        try {
          yield* transfer.pass(part);
        } catch (error) {
          throw error instanceof EndedEarly
            ? new XapiFailure("VDI_IO_ERROR", ["Device I/O error"])
            : error;
        }
      }
    },
  };
}

/** The response of a handler: written once, or the socket is taken over, as by consoles. */
export class SocketResponse implements HandlerResponse {
  readonly #exchange: HandlerExchange;
  readonly #head: RequestHead;
  readonly #io: HandlerIo;
  #outcome: Promise<boolean> | "taken" | undefined;
  #isUnread = false;

  constructor(exchange: HandlerExchange) {
    this.#exchange = exchange;
    this.#head = exchange.head;
    this.#io = exchange.io;
  }

  get started(): boolean {
    return this.#outcome !== undefined;
  }

  endUnread(): void {
    this.#isUnread = true;
  }

  async finish(): Promise<boolean | "taken"> {
    if (this.#isUnread) {
      const { socket } = this.#io;
      if ("authorized" in socket) socket.end();
      else socket.resetAndDestroy();
    } else if (this.#outcome === "taken" && sends(this.#exchange))
      this.#io.reader.discard(MAX_DISCARDED_BYTES);
    return (await this.#outcome) ?? false;
  }

  reply({
    version = this.#head.version,
    status = 200,
    headers = [],
    body,
    keepAlive = false,
  }: Parameters<HandlerResponse["reply"]>[0]): void {
    const all: Header[] = [
      ...headers,
      ["content-length", String(bodyLength([body]))],
    ];
    this.#outcome = this.#io.writer.write({
      version,
      status,
      headers: all,
      body: [body],
      keepAlive: keepAlive && this.#head.keepAlive,
    });
  }

  bare(
    status: number,
    headers: readonly (readonly [string, string])[] = [],
  ): void {
    this.#outcome = this.#io.writer.write({
      version: "1.1",
      status,
      headers: [
        ["Connection", "close"],
        ["Cache-Control", "no-cache, no-store"],
        ...headers,
      ],
      body: [],
      keepAlive: false,
    });
  }

  crash(exception: string): void {
    this.#outcome = this.#io.writer.write(
      crashed(this.#head.version, exception),
    );
  }

  start({
    version = "1.0",
    status = 200,
    headers = [],
  }: Parameters<HandlerResponse["start"]>[0]): NodeJS.WritableStream {
    this.#outcome = "taken";
    const { socket } = this.#io;
    socket.write(headText(version, status, headers));
    const { connection, method, task } = this.#exchange;
    const transfer = new FaultyTransfer(
      connection,
      sends(this.#exchange) ? undefined : method,
    );
    return new TransferStream(socket, transfer, task);
  }

  raw(head: string): Duplex {
    this.#outcome = "taken";
    this.#io.reader.release();
    this.#io.socket.write(head);
    return this.#io.socket;
  }
}

/** Applies faults to the connection of a transfer. */
export function transferConnection(
  { head, io }: Pick<HandlerExchange, "head" | "io">,
  { clock, faults }: Pick<TransferConnection, "clock" | "faults">,
): TransferConnection {
  const { socket, closed } = io;
  return {
    clock,
    faults,
    closed,
    isSilent: () => io.isSilent(),
    cut: () => socket.destroySoon(),
    sendError: (exception) => {
      const { status, headers, body } = crashed(head.version, exception);
      socket.write(headText(head.version, status, headers));
      socket.write(Buffer.concat([...gather(body)]));
    },
  };
}
