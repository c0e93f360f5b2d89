import type { WallClock } from "@xo-server/kit";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { Client } from "../auth/sessions/client.js";
import type { Session } from "../auth/sessions/session.js";
import type { Rights } from "../rights/rights.js";

interface ConsoleConnectionOptions {
  readonly socket: WebSocket;
  /** The stream of the console, after XAPI's response 200. */
  readonly stream: Duplex;
  readonly clock: WallClock;
  readonly pingMs: number;
  /**
   * Called periodically.
   * @returns why the connection must end; undefined: it may continue
   */
  readonly reasonToEnd: () => string | undefined;
}

/** Bytes transferred. */
export interface ConsoleTraffic {
  readonly bytesToClient: number;
  readonly bytesFromClient: number;
}

/** Maximum number of bytes that wait for a browser. Above, the pool is not read. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** A client that does not close within this time, in ms, is disconnected. */
const CLOSE_MS = 1_000;

/** Close codes of RFC 6455. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const LONGEST_REASON = 120;

const BINARY = { binary: true, compress: false } as const;

/**
 * The connection of a client to a console: copies bytes between two sockets, in each direction at
 * the pace of the slower side. It ends once: when either side closes, or when
 * `end` is called.
 */
export class ConsoleConnection implements Client {
  /** Resolves with the reason when the connection has ended. Never rejects. */
  readonly ended: Promise<string>;
  readonly #options: ConsoleConnectionOptions;
  #session: Session | undefined;
  /** The rights of the client at the last check. */
  #rights: Rights | undefined;
  #bytesToClient = 0;
  #bytesFromClient = 0;
  /** Whether the client has sent or received anything since the last check. */
  #isAlive = true;
  #reason: string | undefined;
  #checkTimer: unknown;
  #settle: (reason: string) => void = () => undefined;

  constructor(options: ConsoleConnectionOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#scheduleCheck();
    this.#carryUp();
    this.#carryDown();
  }

  get session(): Session | undefined {
    return this.#session;
  }

  get traffic(): ConsoleTraffic {
    return {
      bytesToClient: this.#bytesToClient,
      bytesFromClient: this.#bytesFromClient,
    };
  }

  setSession(session: Session | undefined): void {
    this.#session = session;
  }

  /** Notifications are never sent on this socket. */
  trySend(): boolean {
    return false;
  }

  /** @param reason why the client may not continue; absent: the server is stopping */
  close(reason?: string): void {
    if (reason === undefined) this.#end("the server is stopping", GOING_AWAY);
    else this.#end(reason, POLICY_VIOLATION);
  }

  /**
   * To be called when the user or the rights of the client may have changed, which
   * is far less often the case.
   */
  renew(): void {
    const rights = this.#session?.user()?.rights;
    if (rights !== undefined && rights === this.#rights) return;
    this.#rights = rights;
    this.#checkAccess();
  }

  /** Ends the connection if the client may not continue. */
  #checkAccess(): void {
    const objection = this.#options.reasonToEnd();
    if (objection !== undefined) this.close(objection);
  }

  #carryDown(): void {
    const { socket, stream } = this.#options;
    const onSent = () => {
      this.#isAlive = true;
      if (stream.isPaused() && socket.bufferedAmount < MAX_BUFFERED_BYTES / 2)
        stream.resume();
    };
    stream.on("data", (chunk: Buffer) => {
      this.#bytesToClient += chunk.length;
      socket.send(chunk, BINARY, onSent);
      if (socket.bufferedAmount > MAX_BUFFERED_BYTES) stream.pause();
    });
    stream.on("end", () => {
      this.#end("the console has ended", NORMAL);
    });
    const breakOff = () => {
      this.#end("the connection to the console was lost", NORMAL);
    };
    stream.on("close", breakOff);
    if (stream.destroyed) breakOff();
    // Resumed only after the reader of the response head has removed its listeners.
    else stream.resume();
  }

  #carryUp(): void {
    const { socket, stream } = this.#options;
    socket.on("message", (data: RawData) => {
      this.#isAlive = true;
      // With the default `binaryType`, data is a single buffer.
      const bytes = data as Buffer;
      this.#bytesFromClient += bytes.length;
      if (stream.writable && !stream.write(bytes)) socket.pause();
    });
    stream.on("drain", () => {
      socket.resume();
    });
    socket.on("pong", () => {
      this.#isAlive = true;
    });
    // A socket emits `close` after each error, which is handled.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#end("closed by the client", NORMAL);
    });
  }

  #scheduleCheck(): void {
    const { clock, pingMs, socket } = this.#options;
    this.#checkTimer = clock.setTimeout(() => {
      this.#checkAccess();
      if (this.#reason !== undefined) return;
      if (!this.#isAlive) {
        this.#end("the client does not answer", POLICY_VIOLATION);
        socket.terminate();
        return;
      }
      this.#isAlive = false;
      socket.ping();
      this.#scheduleCheck();
    }, pingMs);
  }

  #end(reason: string, code: number): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const { clock, socket, stream } = this.#options;
    clock.clearTimeout(this.#checkTimer);
    stream.destroy();
    const closeTimer = clock.setTimeout(() => {
      socket.terminate();
    }, CLOSE_MS);
    socket.once("close", () => {
      clock.clearTimeout(closeTimer);
    });
    // The close frame of a paused client would not be received.
    socket.resume();
    socket.close(code, reason.slice(0, LONGEST_REASON));
    this.#settle(reason);
  }
}
