import type { Duplex } from "node:stream";
import { XoError } from "@xo-server/model";
import { addressName, type Address } from "./address.js";
import { BodyReader, type BodySink } from "./body-reader.js";
import type { Dialer } from "./dialer.js";
import { networkError } from "./network-error.js";
import {
  headEnd,
  keepsAlive,
  MAX_HEAD_BYTES,
  parseHead,
  type ResponseHead,
} from "./response-head.js";

/** One request and how to handle its answer. */
interface HttpExchange {
  readonly request: readonly (string | Uint8Array)[];
  /** Chooses the sink of the body by the head. An error thrown here rejects the exchange. */
  readonly onHead: (head: ResponseHead) => BodySink;
  readonly maxBodyBytes: number;
  /** May be sent again. */
  readonly isIdempotent: boolean;
}

interface RunningExchange extends HttpExchange {
  body: BodyReader | undefined;
  head: ResponseHead | undefined;
  readonly resolve: (bytes: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Interim answers (HTTP 1xx) accepted before an answer; XAPI sends none. */
const MAX_INTERIM_HEADS = 16;

// Heads, and other bytes without a sink, are read into this buffer and copied before the callback returns: one buffer for all connections is enough.
const scratch = new Uint8Array(MAX_HEAD_BYTES);

/**
 * One HTTP/1.1 connection to XAPI, one request at a time. The socket writes the
 * body directly into the decoder's segment (`onread`). With node:http, which
 * allocates each chunk and needs a copy into the segment, loading a whole pool
 * takes 37 % more CPU, 17 % over TLS (docs/decisions/001).
 */
export class Connection {
  readonly #name: string;
  #socket: Duplex | undefined;
  #running: RunningExchange | undefined;
  #headBytes: Uint8Array = new Uint8Array(0);
  #isInSink = false;
  #isReusable = true;
  #responseBytes = 0;
  /** Interim answers (HTTP 1xx) of the running exchange. */
  #interimHeads = 0;
  #via: string | undefined;
  /** Called when the socket ends while no exchange runs. */
  onIdleEnd: (() => void) | undefined;

  private constructor(name: string) {
    this.#name = name;
  }

  /** @throws as dial */
  static async open(
    address: Address,
    dialer: Pick<Dialer, "dial">,
    signal: AbortSignal | undefined,
  ): Promise<Connection> {
    const connection = new Connection(addressName(address));
    const { socket, usesOnread, via } = await dialer.dial(address, {
      signal,
      mayEnd: () => connection.isRepeatable,
      onread: {
        buffer: () => connection.#buffer(),
        callback: (length, bytes) => connection.#onBytes(bytes, length),
      },
    });
    connection.#via = via;
    connection.#attach(socket, usesOnread);
    return connection;
  }

  /** Name of what it goes through; undefined: it is direct. */
  get via(): string | undefined {
    return this.#via;
  }

  /** Can the connection run another exchange? */
  get isReusable(): boolean {
    return this.#isReusable && this.#running === undefined;
  }

  /** Is nothing lost that may not be sent again if the connection ends? */
  get isRepeatable(): boolean {
    return this.#running?.isIdempotent !== false;
  }

  /** Bytes of the current (or last) answer that have arrived, head included. */
  get receivedBytes(): number {
    return this.#responseBytes;
  }

  /** Does the socket wait until the sink of the body has space? */
  get isPaused(): boolean {
    return this.#running?.body?.isPaused === true;
  }

  /**
   * Sends the request and reads the whole answer.
   * @returns size of the body, in bytes
   * @throws XoError CONNECTION_LOST, ANSWER_TOO_LARGE, BAD_ANSWER, and what onHead throws
   */
  run(exchange: HttpExchange): Promise<number> {
    return new Promise((resolve, reject) => {
      const socket = this.#socket;
      this.#responseBytes = 0;
      this.#interimHeads = 0;
      if (socket === undefined || !this.isReusable) {
        reject(this.#connectionLost("closed"));
        return;
      }
      this.#running = {
        ...exchange,
        body: undefined,
        head: undefined,
        resolve,
        reject,
      };
      socket.cork();
      for (const part of exchange.request) socket.write(part);
      socket.uncork();
    });
  }

  /** Call when the sink has space again. */
  resume(): void {
    const body = this.#running?.body;
    if (body?.isPaused !== true) return;
    this.#failOnThrow(() => {
      body.resume();
    });
    this.#finishWhenComplete();
    if (!body.isPaused) this.#socket?.resume();
  }

  /** Closes the connection; a running exchange rejects with `reason`. */
  destroy(reason?: Error): void {
    this.#isReusable = false;
    this.#socket?.destroy();
    const running = this.#running;
    this.#running = undefined;
    running?.reject(reason ?? this.#connectionLost("closed"));
  }

  #attach(socket: Duplex, readsDirectly: boolean): void {
    this.#socket = socket;
    socket.on("error", (error) => {
      this.#fail(networkError(this.#name, error));
    });
    socket.on("end", () => {
      this.#onEnd();
    });
    socket.on("close", () => {
      this.#onEnd();
    });
    if (readsDirectly) {
      // A socket that is not flowing does not emit `end`.
      socket.resume();
      return;
    }
    socket.on("data", (bytes: Uint8Array) => {
      this.#isInSink = false;
      if (!this.#onBytes(bytes, bytes.length)) socket.pause();
    });
  }

  /** Buffer into which the socket writes the next bytes. */
  #buffer(): Uint8Array {
    const space = this.#running?.body?.space();
    this.#isInSink = space !== undefined;
    return space ?? scratch;
  }

  /** @returns false: pause reading */
  #onBytes(bytes: Uint8Array, length: number): boolean {
    this.#responseBytes += length;
    this.#failOnThrow(() => {
      const body = this.#running?.body;
      if (body === undefined) this.#readHead(bytes.subarray(0, length));
      else if (this.#isInSink) body.commit(length);
      else body.write(bytes.subarray(0, length));
    });
    const paused = this.isPaused;
    this.#finishWhenComplete();
    return !paused || this.#running === undefined;
  }

  #readHead(bytes: Uint8Array): void {
    const running = this.#running;
    if (running === undefined) throw new Error("bytes without a request");
    let pending =
      this.#headBytes.length === 0
        ? bytes
        : Buffer.concat([this.#headBytes, bytes]);
    for (;;) {
      const end = headEnd(pending);
      if (end === -1) {
        if (pending.length > MAX_HEAD_BYTES)
          throw new Error("the head is too long");
        this.#headBytes = pending.slice();
        return;
      }
      const head = parseHead(pending.subarray(0, end));
      if (head === undefined) throw new Error("not an HTTP response");
      pending = pending.subarray(end);
      if (head.status >= 100 && head.status < 200) {
        if (++this.#interimHeads > MAX_INTERIM_HEADS)
          throw new Error("too many interim answers (HTTP 1xx)");
        continue;
      }
      this.#headBytes = new Uint8Array(0);
      running.head = head;
      running.body = new BodyReader(
        head,
        running.onHead(head),
        running.maxBodyBytes,
      );
      if (pending.length > 0) running.body.write(pending);
      return;
    }
  }

  #finishWhenComplete(): void {
    const running = this.#running;
    if (running?.body?.isComplete !== true || running.head === undefined)
      return;
    this.#running = undefined;
    if (!keepsAlive(running.head)) this.destroy();
    running.resolve(running.body.received);
  }

  #onEnd(): void {
    if (!this.#isReusable) return;
    this.#isReusable = false;
    const running = this.#running;
    if (running === undefined) {
      this.#socket?.destroy();
      this.onIdleEnd?.();
      return;
    }
    if (running.body?.end() === true) {
      // Buffered bytes are passed to the sink by resume().
      this.#finishWhenComplete();
      return;
    }
    const got = running.body?.received;
    this.#fail(
      this.#connectionLost(
        got === undefined
          ? "no answer"
          : `closed after ${got} bytes of the body`,
      ),
    );
  }

  #failOnThrow(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (error instanceof XoError) this.#fail(error);
      else this.#fail(this.#badAnswer(error));
    }
  }

  #fail(error: unknown): void {
    this.#isReusable = false;
    const running = this.#running;
    this.#running = undefined;
    this.#socket?.destroy();
    if (running === undefined) this.onIdleEnd?.();
    else running.reject(error);
  }

  #connectionLost(reason: string): XoError {
    return new XoError("CONNECTION_LOST", { address: this.#name, reason });
  }

  #badAnswer(error: unknown): XoError {
    const reason = error instanceof Error ? error.message : String(error);
    const start = Buffer.from(this.#headBytes.subarray(0, 64)).toString(
      "latin1",
    );
    return new XoError(
      "BAD_ANSWER",
      {
        address: this.#name,
        reason,
        start: JSON.stringify(start),
      },
      error,
    );
  }
}
