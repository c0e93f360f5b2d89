import type { Duplex } from "node:stream";
import { RepositoryError } from "../errors.js";
import { startTls, type Address } from "../net/dial.js";
import { SocketReader } from "../net/socket-reader.js";
import type { TlsTrust } from "../net/tls-trust.js";
import {
  FIXED_NEWSTYLE,
  HAS_FLAGS,
  Info,
  NBD_MAGIC,
  NO_ZEROES,
  OPTION_MAGIC,
  OPTION_REPLY_MAGIC,
  Option,
  OptionReply,
  encodeOption,
  encodeString,
  isOptionError,
  optionErrorText,
} from "./protocol.js";

/** What server and client agreed on. */
export interface NegotiatedExport {
  readonly socket: Duplex;
  /** Bytes of the export. */
  readonly size: number;
  readonly isStructured: boolean;
  /** Number of the context `base:allocation`; undefined: no block status. */
  readonly allocationContext: number | undefined;
  /** Bytes that one read may request at most. */
  readonly maxRead: number;
  /** Reads begin and end at multiples of it. */
  readonly minRead: number;
}

/** The largest reply to an option. */
const MAX_OPTION_REPLY = 64 * 1024;
/** Replies to one option at most. */
const MAX_REPLIES = 64;
/** What a client may request if the server does not announce a limit. */
const DEFAULT_MAX_READ = 32 * 1024 * 1024;
const ALLOCATION = "base:allocation";

interface OptionAnswer {
  readonly type: number;
  readonly data: Buffer;
}

/**
 * The handshake: fixed newstyle, TLS if a trust is set, the export with what the server offers.
 * @throws RepositoryError `untrusted`, `transfer-failed`, `source-invalid`
 */
export async function negotiate(
  plain: Duplex,
  options: {
    readonly address: Address;
    readonly tls: TlsTrust | undefined;
    readonly exportName: string;
  },
): Promise<NegotiatedExport> {
  const { address, tls, exportName } = options;
  let handshake = new Handshake(plain);
  const flags = await handshake.greet();
  let socket = plain;
  if (tls !== undefined) {
    const { type } = await handshake.askOnce(Option.startTls);
    if (isOptionError(type))
      throw new RepositoryError(
        "untrusted",
        `no TLS, which is expected: ${optionErrorText(type)}`,
      );
    handshake.endPlain();
    socket = await startTls(plain, { address, trust: tls });
    handshake = new Handshake(socket);
  }
  const structured = await handshake.askOnce(Option.structuredReply);
  const isStructured = structured.type === OptionReply.ack;
  const allocationContext = isStructured
    ? await handshake.setAllocationContext(exportName)
    : undefined;
  const info =
    (await handshake.go(exportName)) ??
    (await handshake.exportName(exportName, (flags & NO_ZEROES) === 0));
  handshake.end();
  return { socket, isStructured, allocationContext, ...info };
}

type ExportInfo = Pick<NegotiatedExport, "size" | "maxRead" | "minRead">;

class Handshake {
  readonly #socket: Duplex;
  readonly #reader: SocketReader;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#reader = new SocketReader(socket);
  }

  /** @returns the flags of the server */
  async greet(): Promise<number> {
    const bytes = await this.#reader.read(18);
    if (
      !bytes.subarray(0, 8).equals(NBD_MAGIC) ||
      !bytes.subarray(8, 16).equals(OPTION_MAGIC)
    )
      throw violation("it does not speak NBD in the newstyle");
    const flags = bytes.readUInt16BE(16);
    if ((flags & FIXED_NEWSTYLE) === 0)
      throw violation("it does not offer the fixed newstyle");
    const answer = Buffer.alloc(4);
    answer.writeUInt32BE(flags & (FIXED_NEWSTYLE | NO_ZEROES));
    this.#socket.write(answer);
    return flags;
  }

  /** An option with one reply. */
  async askOnce(option: number): Promise<OptionAnswer> {
    this.#socket.write(encodeOption(option, Buffer.alloc(0)));
    const answer = await this.#reply(option);
    if (answer.type !== OptionReply.ack && !isOptionError(answer.type))
      throw violation(`an unexpected reply to option ${option}`);
    return answer;
  }

  /** @returns the number of the context, if the server has it */
  async setAllocationContext(exportName: string): Promise<number | undefined> {
    const count = Buffer.from([0, 0, 0, 1]);
    const data = [encodeString(exportName), count, encodeString(ALLOCATION)];
    let context: number | undefined;
    for await (const { type, data: reply } of this.#request(
      Option.setMetaContext,
      Buffer.concat(data),
    )) {
      if (isOptionError(type)) return undefined;
      if (type !== OptionReply.metaContext || reply.length < 4)
        throw violation("an unexpected reply about meta contexts");
      if (reply.subarray(4).toString("utf8") === ALLOCATION)
        context = reply.readUInt32BE(0);
    }
    return context;
  }

  /** @returns undefined if the server does not know this option */
  async go(exportName: string): Promise<ExportInfo | undefined> {
    const infoRequest = Buffer.from([0, 1, 0, Info.blockSize]);
    let size: number | undefined;
    let minRead = 1;
    let maxRead = DEFAULT_MAX_READ;
    const data = Buffer.concat([encodeString(exportName), infoRequest]);
    for await (const { type, data: reply } of this.#request(Option.go, data)) {
      if (isUnknownOption(type)) return undefined;
      if (isOptionError(type)) throw refused(type);
      if (type !== OptionReply.info || reply.length < 2)
        throw violation("an unexpected reply about the export");
      const info = reply.readUInt16BE(0);
      if (info === Info.export) size = parseExport(reply.subarray(2), 10);
      if (info === Info.blockSize) {
        if (reply.length !== 14)
          throw violation("wrong block size constraints");
        minRead = reply.readUInt32BE(2);
        maxRead = Math.min(reply.readUInt32BE(10), DEFAULT_MAX_READ);
      }
    }
    if (size === undefined) throw violation("no size of the export");
    const isPower = minRead > 0 && (minRead & (minRead - 1)) === 0;
    if (!isPower || minRead > 65_536 || maxRead < 65_536)
      throw violation("block size constraints that are not supported");
    return { size, minRead, maxRead };
  }

  /** The way of old servers, such as that of XAPI; a server without this export closes the connection. */
  async exportName(name: string, hasZeroes: boolean): Promise<ExportInfo> {
    this.#socket.write(encodeOption(Option.exportName, Buffer.from(name)));
    const reply = await this.#reader.read(hasZeroes ? 134 : 10);
    // Such servers read whole sectors only.
    return {
      size: parseExport(reply, reply.length),
      minRead: 512,
      maxRead: DEFAULT_MAX_READ,
    };
  }

  /** Before TLS starts: bytes that an attacker has added must not be taken for later ones. */
  endPlain(): void {
    if (this.#reader.queued > 0) throw violation("bytes before TLS");
    this.end();
  }

  end(): void {
    if (this.#reader.queued > 0) throw violation("bytes before a request");
    this.#reader.detach();
  }

  /** The replies to an option without the last one, or an error. */
  async *#request(option: number, data: Buffer): AsyncGenerator<OptionAnswer> {
    this.#socket.write(encodeOption(option, data));
    for (let i = 0; i < MAX_REPLIES; i++) {
      const reply = await this.#reply(option);
      if (reply.type === OptionReply.ack) return;
      yield reply;
      if (isOptionError(reply.type)) return;
    }
    throw violation("too many replies to an option");
  }

  async #reply(option: number): Promise<OptionAnswer> {
    const header = await this.#reader.read(20);
    if (!header.subarray(0, 8).equals(OPTION_REPLY_MAGIC))
      throw violation("a reply without its magic number");
    if (header.readUInt32BE(8) !== option)
      throw violation("a reply to another option");
    const length = header.readUInt32BE(16);
    if (length > MAX_OPTION_REPLY)
      throw violation(`a reply of ${length} bytes to an option`);
    const data = await this.#reader.read(length);
    return { type: header.readUInt32BE(12), data };
  }
}

function parseExport(bytes: Buffer, length: number): number {
  if (bytes.length !== length) throw violation("wrong export information");
  const size = Number(bytes.readBigUInt64BE(0));
  if (!Number.isSafeInteger(size)) throw violation("an impossible size");
  if ((bytes.readUInt16BE(8) & HAS_FLAGS) === 0)
    throw violation("no flags of the export");
  return size;
}

function isUnknownOption(type: number): boolean {
  return type === 0x8000_0001;
}

function refused(type: number): RepositoryError {
  return new RepositoryError("transfer-failed", optionErrorText(type));
}

function violation(what: string): RepositoryError {
  return new RepositoryError("source-invalid", `NBD: ${what}`);
}
