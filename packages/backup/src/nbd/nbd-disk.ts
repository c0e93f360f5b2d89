import { setTimeout as sleep } from "node:timers/promises";
import { RepositoryError } from "../errors.js";
import type { BlockSource } from "../write/block-source.js";
import type { Range } from "../write/block-runs.js";
import { NbdConnection, NbdRequestError } from "./nbd-connection.js";
import type { NbdServer } from "./nbd-server.js";

export interface NbdDiskOptions {
  readonly servers: readonly NbdServer[];
  readonly exportName: string;
  /** Bytes that the export must have. */
  readonly size?: number | undefined;
  /** 1 to 8; default 4. */
  readonly connections?: number | undefined;
  /** Default 30,000. */
  readonly stallMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Waits between attempts, in milliseconds. */
  readonly delay?: (ms: number) => Promise<unknown>;
}

const CONNECTIONS = 4;
const MAX_CONNECTIONS = 8;
const STALL_MS = 30_000;
/** Waits before the attempts of one request, in milliseconds. */
const RETRY_MS = [0, 250, 1000, 3000, 8000, 15_000];
/** An export may be larger than the disk: storages round sizes up. */
const MAX_EXCESS = 2 * 1024 * 1024;

/** The content of a disk that NBD servers export, read over several connections. */
export class NbdDisk implements BlockSource {
  readonly size: number;
  readonly concurrency: number;
  readonly #options: NbdDiskOptions;
  readonly #delay: (ms: number) => Promise<unknown>;
  readonly #exportSize: number;
  readonly #minRead: number;
  readonly #maxRead: number;
  #connections: NbdConnection[] = [];
  /** Servers may allow fewer than requested. */
  #limit: number;
  #opening: Promise<void> | undefined;
  /** Number of requests in flight or waiting for a connection. */
  #requests = 0;
  /** Index in `servers` of the one that new connections use. */
  #server: number;
  #isClosed = false;

  private constructor(
    options: NbdDiskOptions,
    first: NbdConnection,
    server: number,
  ) {
    const { size, minRead, maxRead } = first.negotiated;
    this.#options = options;
    this.#delay =
      options.delay ??
      ((ms) => sleep(ms, undefined, { signal: options.signal, ref: true }));
    this.size = options.size ?? size;
    this.#exportSize = size;
    this.#minRead = minRead;
    this.#maxRead = maxRead - (maxRead % minRead);
    this.#limit = Math.min(
      Math.max(1, options.connections ?? CONNECTIONS),
      MAX_CONNECTIONS,
    );
    this.concurrency = 2 * this.#limit;
    this.#connections = [first];
    this.#server = server;
  }

  /** @throws RepositoryError `untrusted`, `transfer-failed`, `source-invalid`, `invalid` */
  static async open(options: NbdDiskOptions): Promise<NbdDisk> {
    const { servers, size } = options;
    if (servers.length === 0)
      throw new RepositoryError("invalid", "nbd: servers is empty");
    let failure: unknown;
    for (const [i, server] of servers.entries())
      try {
        options.signal?.throwIfAborted();
        const first = await connect(server, options);
        const { size: exported } = first.negotiated;
        if (size !== undefined && !isSizeOf(exported, size)) {
          first.close();
          throw new RepositoryError(
            "source-invalid",
            `NBD server ${server.address}: the export has ${exported} bytes, the disk ${size}`,
          );
        }
        return new NbdDisk(options, first, i);
      } catch (error) {
        failure ??= error;
      }
    throw failure;
  }

  async read(offset: number, into: Buffer): Promise<void> {
    const rest = (offset + into.length) % this.#minRead;
    if (rest === 0) return this.#readAligned(offset, into);
    // The end of a disk whose size is not a multiple of the block size of the server.
    const padded = Buffer.alloc(
      Math.min(into.length + this.#minRead - rest, this.#exportSize - offset),
    );
    await this.#readAligned(offset, padded);
    padded.copy(into);
  }

  /** All ranges if the server does not report the block status. */
  async allocated(offset: number, length: number): Promise<Range[]> {
    const ranges: Range[] = [];
    for (let done = 0; done < length;) {
      const start = offset + done;
      const status = await this.#status(start, length - done);
      ranges.push(...status.ranges);
      done += status.covered;
    }
    return ranges;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening;
    for (const connection of this.#connections) connection.close();
  }

  async #status(
    offset: number,
    length: number,
  ): Promise<{ ranges: Range[]; covered: number }> {
    const rest = (offset + length) % this.#minRead;
    const aligned = rest === 0 ? length : length + this.#minRead - rest;
    const all = { ranges: [{ offset, length }], covered: length };
    try {
      return await this.#retry((connection) =>
        connection.negotiated.allocationContext === undefined
          ? all
          : connection.allocated(
              offset,
              Math.min(aligned, this.#exportSize - offset),
            ),
      );
    } catch (error) {
      // It is only an optimization.
      if (isRefused(error)) return all;
      throw error;
    }
  }

  async #readAligned(offset: number, into: Buffer): Promise<void> {
    for (let done = 0; done < into.length; done += this.#maxRead) {
      const part = into.subarray(done, done + this.#maxRead);
      await this.#retry((connection) => connection.read(offset + done, part));
    }
  }

  /** Repeats a request on another connection, later on another server. */
  async #retry<T>(
    request: (connection: NbdConnection) => T | Promise<T>,
  ): Promise<T> {
    let failure: unknown;
    for (const ms of RETRY_MS) {
      if (ms > 0) await this.#delay(ms);
      this.#options.signal?.throwIfAborted();
      let connection: NbdConnection | undefined;
      try {
        this.#requests++;
        await this.#connect();
        connection = this.#leastUsed();
        return await request(connection);
      } catch (error) {
        failure = error;
        if (this.#isClosed || isFinal(error)) break;
        if (error instanceof NbdRequestError) this.#leave(connection!.server);
      } finally {
        this.#requests--;
      }
    }
    if (failure instanceof NbdRequestError)
      throw new RepositoryError("transfer-failed", failure.message, {
        cause: failure,
      });
    throw failure;
  }

  /** As many connections as there are requests, within the limit; one opens at a time. */
  async #connect(): Promise<void> {
    for (;;) {
      this.#connections = this.#connections.filter(({ isOpen }) => isOpen);
      const needed = Math.min(this.#limit, this.#requests);
      if (this.#connections.length >= needed) return;
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      await this.#opening;
    }
  }

  /** The connection with the fewest requests in flight. */
  #leastUsed(): NbdConnection {
    const [first, ...others] = this.#connections.filter(({ isOpen }) => isOpen);
    if (first === undefined)
      throw new RepositoryError(
        "transfer-failed",
        "NBD: there is no connection",
      );
    return others.reduce(
      (best, one) => (one.inFlight < best.inFlight ? one : best),
      first,
    );
  }

  get #current(): NbdServer {
    const { servers } = this.#options;
    return servers[this.#server % servers.length]!;
  }

  async #open(): Promise<void> {
    const server = this.#current;
    try {
      const connection = await connect(server, this.#options);
      if (connection.negotiated.size !== this.#exportSize) {
        connection.close();
        throw new RepositoryError(
          "source-invalid",
          `NBD server ${server.address}: the size of the export has changed`,
        );
      }
      this.#connections.push(connection);
    } catch (error) {
      if (this.#connections.some(({ isOpen }) => isOpen)) {
        this.#limit = Math.max(1, this.#connections.length);
        return;
      }
      this.#server++;
      throw error;
    }
  }

  /** After an error of the disk behind one server: others may reach it by another path. */
  #leave(server: NbdServer): void {
    const { servers } = this.#options;
    if (servers.length < 2) return;
    if (this.#current === server) this.#server++;
    for (const connection of this.#connections)
      if (connection.server === server) connection.retire();
  }
}

function connect(
  server: NbdServer,
  { exportName, stallMs = STALL_MS }: NbdDiskOptions,
): Promise<NbdConnection> {
  return NbdConnection.open(server, { exportName, stallMs });
}

function isSizeOf(exported: number, size: number): boolean {
  return exported >= size && exported - size < MAX_EXCESS;
}

function isRefused(error: unknown): boolean {
  return (
    error instanceof RepositoryError && error.cause instanceof NbdRequestError
  );
}

/** Errors that no other attempt changes. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof RepositoryError &&
    (error.code === "untrusted" || error.code === "invalid")
  );
}
