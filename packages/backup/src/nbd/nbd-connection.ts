import type { Duplex } from "node:stream";
import { RepositoryError } from "../errors.js";
import { dial, nameOf } from "../net/dial.js";
import { SocketReader } from "../net/socket-reader.js";
import type { Range } from "../write/block-runs.js";
import { Coverage } from "./coverage.js";
import type { NbdServer } from "./nbd-server.js";
import { negotiate, type NegotiatedExport } from "./negotiate.js";
import {
  CHUNK_DONE,
  Chunk,
  Command,
  SIMPLE_REPLY_MAGIC,
  STATE_ZERO,
  STRUCTURED_REPLY_MAGIC,
  encodeRequest,
  errnoName,
} from "./protocol.js";

interface NbdConnectionOptions {
  readonly exportName: string;
  /** Milliseconds without a byte while a request is in flight. */
  readonly stallMs: number;
}

/** The server refused a request; the connection still works. */
export class NbdRequestError extends Error {
  override readonly name = "NbdRequestError";
}

/** A request in flight. */
interface PendingRequest {
  readonly offset: number;
  readonly length: number;
  /** Where data goes; undefined for a block status. */
  readonly into: Buffer | undefined;
  readonly covered: Coverage;
  /** Extents of a block status: pairs of length and state. */
  extents: Buffer | undefined;
  /** The first error of a structured reply. */
  error: number | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Extents of one block status, 8 bytes each. */
const MAX_STATUS = 4 * 1024 * 1024;
const MAX_ERROR_TEXT = 8 * 1024;

/** One connection to an export, with several requests in flight. */
export class NbdConnection {
  readonly server: NbdServer;
  readonly negotiated: NegotiatedExport;
  readonly #name: string;
  readonly #socket: Duplex;
  readonly #reader: SocketReader;
  readonly #pending = new Map<bigint, PendingRequest>();
  readonly #stallMs: number;
  #timer: NodeJS.Timeout | undefined;
  #cookie = 0n;
  #isRetired = false;
  #failure: RepositoryError | undefined;

  private constructor(
    server: NbdServer,
    negotiated: NegotiatedExport,
    stallMs: number,
  ) {
    this.#name = nameOfServer(server);
    this.server = server;
    this.negotiated = negotiated;
    this.#socket = negotiated.socket;
    this.#stallMs = stallMs;
    this.#reader = new SocketReader(negotiated.socket, () =>
      this.#timer?.refresh(),
    );
    void this.#receive();
  }

  /** @throws RepositoryError `untrusted`, `transfer-failed`, `source-invalid` */
  static async open(
    server: NbdServer,
    { exportName, stallMs }: NbdConnectionOptions,
  ): Promise<NbdConnection> {
    const address = { host: server.address, port: server.port };
    const name = nameOfServer(server);
    const { socketPath } = server;
    const socket = await dial({ ...address, socketPath }, undefined);
    const timer = setTimeout(
      () => socket.destroy(new Error(`no handshake within ${stallMs} ms`)),
      stallMs,
    );
    try {
      const { tls } = server;
      const negotiated = await negotiate(socket, { address, tls, exportName });
      return new NbdConnection(server, negotiated, stallMs);
    } catch (error) {
      socket.destroy();
      throw failureOf(name, error);
    } finally {
      clearTimeout(timer);
    }
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** Whether it takes further requests. */
  get isOpen(): boolean {
    return this.#failure === undefined && !this.#isRetired;
  }

  /** Takes no further requests, and closes after those in flight. */
  retire(): void {
    this.#isRetired = true;
    if (this.#pending.size === 0) this.close();
  }

  /**
   * @throws NbdRequestError if the server refuses this request
   * @throws RepositoryError if the connection fails: it is closed then
   */
  async read(offset: number, into: Buffer): Promise<void> {
    await this.#request(Command.read, {
      offset,
      length: into.length,
      into,
      extents: undefined,
    });
  }

  /** Ranges from `offset` on that may be other than zero; may end before `length`. */
  async allocated(
    offset: number,
    length: number,
  ): Promise<{ ranges: Range[]; covered: number }> {
    const { extents } = await this.#request(Command.blockStatus, {
      offset,
      length,
      into: undefined,
      extents: undefined,
    });
    if (extents === undefined)
      throw this.#fail(violation("no block status in the reply"));
    const ranges: Range[] = [];
    let covered = 0;
    for (let at = 0; at < extents.length && covered < length; at += 8) {
      const some = Math.min(extents.readUInt32BE(at), length - covered);
      if (some === 0) throw this.#fail(violation("an extent of 0 bytes"));
      if ((extents.readUInt32BE(at + 4) & STATE_ZERO) === 0)
        ranges.push({ offset: offset + covered, length: some });
      covered += some;
    }
    return { ranges, covered };
  }

  /** Requests in flight fail. */
  close(): void {
    if (this.#failure === undefined && this.#socket.writable) {
      const disconnect = { command: Command.disconnect, cookie: 0n };
      this.#socket.end(encodeRequest({ ...disconnect, offset: 0, length: 0 }));
    }
    this.#fail(new Error("the connection was closed"));
  }

  #request(
    command: number,
    request: Pick<PendingRequest, "offset" | "length" | "into" | "extents">,
  ): Promise<PendingRequest> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const cookie = ++this.#cookie;
    const { offset, length } = request;
    return new Promise((resolve, reject) => {
      const pending: PendingRequest = {
        ...request,
        covered: new Coverage(length),
        error: undefined,
        resolve: () => resolve(pending),
        reject,
      };
      this.#pending.set(cookie, pending);
      this.#timer ??= setTimeout(
        () => this.#fail(new Error(`no byte within ${this.#stallMs} ms`)),
        this.#stallMs,
      );
      this.#socket.write(encodeRequest({ command, cookie, offset, length }));
    });
  }

  async #receive(): Promise<void> {
    try {
      const { isStructured } = this.negotiated;
      while (this.#failure === undefined) {
        const start = await this.#reader.read(4);
        const magic = start.readUInt32BE(0);
        if (magic === SIMPLE_REPLY_MAGIC) await this.#receiveSimple();
        else if (isStructured && magic === STRUCTURED_REPLY_MAGIC)
          await this.#receiveChunk();
        else throw violation("a reply without its magic number");
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async #receiveSimple(): Promise<void> {
    const header = await this.#reader.read(12);
    const error = header.readUInt32BE(0);
    const cookie = header.readBigUInt64BE(4);
    const pending = this.#pendingOf(cookie);
    if (error !== 0) pending.error = error;
    else if (this.negotiated.isStructured)
      throw violation("a simple reply where a structured one is expected");
    else if (pending.into !== undefined) {
      await this.#reader.readInto(pending.into);
      pending.covered.add(0, pending.length);
    }
    this.#complete(cookie, pending);
  }

  async #receiveChunk(): Promise<void> {
    const header = await this.#reader.read(16);
    const flags = header.readUInt16BE(0);
    const type = header.readUInt16BE(2);
    const cookie = header.readBigUInt64BE(4);
    const length = header.readUInt32BE(12);
    const pending = this.#pendingOf(cookie);
    if (type === Chunk.data) await this.#receiveData(pending, length);
    else if (type === Chunk.hole) await this.#receiveHole(pending, length);
    else if (type === Chunk.blockStatus)
      await this.#receiveStatus(pending, length);
    else if (type === Chunk.error || type === Chunk.errorOffset) {
      if (length < 6 || length > MAX_ERROR_TEXT)
        throw violation(`an error of ${length} bytes`);
      const bytes = await this.#reader.read(length);
      pending.error ??= bytes.readUInt32BE(0);
    } else if (type !== Chunk.none || length !== 0)
      throw violation(`a chunk of type ${type} and ${length} bytes`);
    if ((flags & CHUNK_DONE) !== 0) this.#complete(cookie, pending);
  }

  async #receiveData(pending: PendingRequest, length: number): Promise<void> {
    if (pending.into === undefined || length <= 8)
      throw violation("unexpected data");
    const size = length - 8;
    const start = await this.#startOf(pending, size);
    await this.#reader.readInto(pending.into.subarray(start, start + size));
  }

  async #receiveHole(pending: PendingRequest, length: number): Promise<void> {
    if (pending.into === undefined || length !== 12)
      throw violation("an unexpected hole");
    const bytes = await this.#reader.read(12);
    const size = bytes.readUInt32BE(8);
    const start = this.#cover(pending, bytes, size);
    pending.into.fill(0, start, start + size);
  }

  async #startOf(pending: PendingRequest, size: number): Promise<number> {
    return this.#cover(pending, await this.#reader.read(8), size);
  }

  /** @returns where data of the disk's offset in `bytes` begins in the request */
  #cover(pending: PendingRequest, bytes: Buffer, size: number): number {
    const start = Number(bytes.readBigUInt64BE(0)) - pending.offset;
    if (!pending.covered.add(start, size))
      throw violation("data outside of the request, or twice");
    return start;
  }

  async #receiveStatus(pending: PendingRequest, length: number): Promise<void> {
    if (
      pending.into !== undefined ||
      pending.extents !== undefined ||
      length < 12 ||
      length > MAX_STATUS ||
      length % 8 !== 4
    )
      throw violation(`an unexpected block status of ${length} bytes`);
    const bytes = await this.#reader.read(length);
    if (bytes.readUInt32BE(0) !== this.negotiated.allocationContext)
      throw violation("a block status of another context");
    pending.extents = bytes.subarray(4);
  }

  #pendingOf(cookie: bigint): PendingRequest {
    const pending = this.#pending.get(cookie);
    if (pending === undefined) throw violation("a reply to no request");
    return pending;
  }

  #complete(cookie: bigint, pending: PendingRequest): void {
    const { error, into, covered, offset, length } = pending;
    if (error === undefined && into !== undefined && !covered.isComplete)
      throw violation("a reply with less than was requested");
    this.#pending.delete(cookie);
    if (this.#pending.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    if (error === undefined) pending.resolve();
    else
      pending.reject(
        new NbdRequestError(
          `${this.#name}: ${errnoName(error)} for ${length} bytes at ${offset}`,
        ),
      );
    if (this.#isRetired) this.retire();
  }

  #fail(error: unknown): RepositoryError {
    this.#failure ??= failureOf(this.#name, error);
    clearTimeout(this.#timer);
    this.#reader.fail(this.#failure);
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    if (!this.#socket.writableEnded) this.#socket.destroy();
    return this.#failure;
  }
}

function nameOfServer({ address, port }: NbdServer): string {
  return `NBD server ${nameOf({ host: address, port })}`;
}

function failureOf(name: string, error: unknown): RepositoryError {
  const message = error instanceof Error ? error.message : String(error);
  const code =
    error instanceof RepositoryError
      ? error.code
      : ("transfer-failed" as const);
  return new RepositoryError(code, `${name}: ${message}`, { cause: error });
}

function violation(what: string): RepositoryError {
  return new RepositoryError("source-invalid", `NBD: ${what}`);
}
