import type { Faults } from "../faults/transport-faults.js";
import { XapiFailure } from "../xapi-failure.js";
import { DiskExport } from "./disk-export.js";
import {
  exportFlags,
  FIXED_NEWSTYLE,
  info,
  NBD_MAGIC,
  NO_ZEROES,
  option,
  OPTION_MAGIC,
  optionReply,
  optionReplyOf,
  uint16,
  uint32,
  uint64,
} from "./nbd-protocol.js";
import type { NbdStream } from "./nbd-stream.js";

/** What the server of a host has for a connection. */
export interface NbdHost {
  readonly faults: Faults;
  /** TLS comes before everything else. */
  readonly requiresTls: boolean;
  /** Continues on TLS. */
  secure(stream: NbdStream): Promise<NbdStream>;
  /** @throws XapiFailure */
  open(name: string): DiskExport;
  /** @throws XapiFailure */
  check(name: string): { readonly size: number };
}

/** What the two sides have agreed on. */
export interface NegotiatedExport {
  readonly stream: NbdStream;
  readonly disk: DiskExport;
  readonly isStructured: boolean;
  /** The client may request block status in `base:allocation`. */
  readonly hasAllocation: boolean;
}

/** The one context that there is, and its number. */
const ALLOCATION = "base:allocation";
export const ALLOCATION_ID = 1;

const MAX_OPTION_BYTES = 64 * 1024;
const FLAGS =
  exportFlags.hasFlags |
  exportFlags.readOnly |
  exportFlags.sendDf |
  exportFlags.canMultiConn;
/** Bytes: smallest, preferred, largest request. */
const BLOCK_SIZES = [1, 65536, 32 * 2 ** 20] as const;

/** The handshake: options of the client, until it has chosen an export. */
export class Negotiation {
  readonly #host: NbdHost;
  #stream: NbdStream;
  #isSecure = false;
  #noZeroes = false;
  #isStructured = false;
  #hasAllocation = false;

  constructor(host: NbdHost, stream: NbdStream) {
    this.#host = host;
    this.#stream = stream;
  }

  /** @returns undefined where the client or the server gives up. @throws ConnectionEnded */
  async run(): Promise<NegotiatedExport | undefined> {
    await this.#stream.write(
      Buffer.concat([
        NBD_MAGIC,
        OPTION_MAGIC,
        uint16(FIXED_NEWSTYLE | NO_ZEROES),
      ]),
    );
    const flags = (await this.#stream.read(4)).readUInt32BE();
    if ((flags & FIXED_NEWSTYLE) === 0) return undefined;
    this.#noZeroes = (flags & NO_ZEROES) !== 0;
    for (;;) {
      const head = await this.#stream.read(16);
      if (!head.subarray(0, 8).equals(OPTION_MAGIC)) return undefined;
      const number = head.readUInt32BE(8);
      const length = head.readUInt32BE(12);
      if (length > MAX_OPTION_BYTES) return undefined;
      const outcome = await this.#option(
        number,
        await this.#stream.read(length),
      );
      if (outcome === "end") return undefined;
      if (outcome !== "next")
        return {
          stream: this.#stream,
          disk: outcome,
          isStructured: this.#isStructured,
          hasAllocation: this.#hasAllocation,
        };
    }
  }

  async #option(
    number: number,
    data: Buffer,
  ): Promise<DiskExport | "next" | "end"> {
    const needsTls = this.#host.requiresTls && !this.#isSecure;
    if (number === option.abort) {
      await this.#reply(number, optionReply.ack);
      return "end";
    }
    if (number === option.startTls) return this.#startTls(data);
    if (needsTls) {
      // EXPORT_NAME has no error reply.
      if (number === option.exportName) return "end";
      await this.#reply(number, optionReply.tlsRequired);
      return "next";
    }
    if (number === option.exportName) return this.#exportName(data);
    if (number === option.list) {
      // Exports are named by VDI.get_nbd_info only.
      await this.#reply(number, optionReply.policy);
      return "next";
    }
    if (this.#host.faults.isOn("nbdPlain")) {
      await this.#reply(number, optionReply.unsupported);
      return "next";
    }
    return this.#newOption(number, data);
  }

  /** Options that xapi-nbd does not know. */
  async #newOption(number: number, data: Buffer): Promise<DiskExport | "next"> {
    switch (number) {
      case option.info:
      case option.go:
        return this.#infoOrGo(number, data);
      case option.structuredReply:
        this.#isStructured = true;
        await this.#reply(number, optionReply.ack);
        return "next";
      case option.listMetaContext:
      case option.setMetaContext:
        await this.#metaContexts(number, data);
        return "next";
      default:
        await this.#reply(number, optionReply.unsupported);
        return "next";
    }
  }

  async #startTls(data: Buffer): Promise<"next"> {
    const number = option.startTls;
    if (this.#isSecure || data.length > 0)
      await this.#reply(number, optionReply.invalid);
    else {
      await this.#reply(number, optionReply.ack);
      this.#stream = await this.#host.secure(this.#stream);
      this.#isSecure = true;
      // What was agreed on before is void.
      this.#isStructured = false;
      this.#hasAllocation = false;
    }
    return "next";
  }

  async #exportName(data: Buffer): Promise<DiskExport | "end"> {
    const disk = this.#open(data.toString());
    if (disk === undefined) return "end";
    await this.#stream.write(
      Buffer.concat([
        uint64(disk.size),
        uint16(FLAGS),
        Buffer.alloc(this.#noZeroes ? 0 : 124),
      ]),
    );
    return disk;
  }

  async #infoOrGo(number: number, data: Buffer): Promise<DiskExport | "next"> {
    const request = readInfoRequest(data);
    if (request === undefined) {
      await this.#reply(number, optionReply.invalid);
      return "next";
    }
    const { name, infos } = request;
    const disk = number === option.go ? this.#open(name) : this.#check(name);
    if (disk === undefined) {
      await this.#reply(number, optionReply.unknown);
      return "next";
    }
    const replies = [
      Buffer.concat([uint16(info.export), uint64(disk.size), uint16(FLAGS)]),
      ...(infos.includes(info.name)
        ? [Buffer.concat([uint16(info.name), Buffer.from(name)])]
        : []),
      ...(infos.includes(info.blockSize)
        ? [Buffer.concat([uint16(info.blockSize), uint32(...BLOCK_SIZES)])]
        : []),
    ];
    for (const reply of replies)
      await this.#reply(number, optionReply.info, reply);
    await this.#reply(number, optionReply.ack);
    return disk instanceof DiskExport ? disk : "next";
  }

  async #metaContexts(number: number, data: Buffer): Promise<void> {
    const request = readMetaRequest(data);
    if (request === undefined || !this.#isStructured) {
      await this.#reply(number, optionReply.invalid);
      return;
    }
    const { name, queries } = request;
    if (this.#check(name) === undefined) {
      await this.#reply(number, optionReply.unknown);
      return;
    }
    const isList = number === option.listMetaContext;
    const matches =
      queries.includes(ALLOCATION) ||
      (isList && (queries.length === 0 || queries.includes("base:")));
    if (!isList) this.#hasAllocation = matches;
    if (matches)
      await this.#reply(
        number,
        optionReply.metaContext,
        Buffer.concat([
          uint32(isList ? 0 : ALLOCATION_ID),
          Buffer.from(ALLOCATION),
        ]),
      );
    await this.#reply(number, optionReply.ack);
  }

  #open(name: string): DiskExport | undefined {
    try {
      return this.#host.open(name);
    } catch (error) {
      if (error instanceof XapiFailure) return undefined;
      throw error;
    }
  }

  #check(name: string): { readonly size: number } | undefined {
    try {
      return this.#host.check(name);
    } catch (error) {
      if (error instanceof XapiFailure) return undefined;
      throw error;
    }
  }

  #reply(number: number, type: number, data?: Buffer): Promise<void> {
    return this.#stream.write(optionReplyOf(number, type, data));
  }
}

/** Length and name of the export, number of infos, infos. */
function readInfoRequest(
  data: Buffer,
): { readonly name: string; readonly infos: readonly number[] } | undefined {
  if (data.length < 6) return undefined;
  const nameEnd = 4 + data.readUInt32BE(0);
  if (nameEnd + 2 > data.length) return undefined;
  const count = data.readUInt16BE(nameEnd);
  if (data.length !== nameEnd + 2 + 2 * count) return undefined;
  return {
    name: data.toString("utf8", 4, nameEnd),
    infos: Array.from({ length: count }, (_, i) =>
      data.readUInt16BE(nameEnd + 2 + 2 * i),
    ),
  };
}

/** Length and name of the export, number of queries, length and text of each. */
function readMetaRequest(
  data: Buffer,
): { readonly name: string; readonly queries: readonly string[] } | undefined {
  let at = 0;
  const text = (): string | undefined => {
    if (at + 4 > data.length) return undefined;
    const end = at + 4 + data.readUInt32BE(at);
    if (end > data.length) return undefined;
    const value = data.toString("utf8", at + 4, end);
    at = end;
    return value;
  };
  const name = text();
  if (name === undefined || at + 4 > data.length) return undefined;
  const count = data.readUInt32BE(at);
  at += 4;
  const queries: string[] = [];
  while (queries.length < count) {
    const query = text();
    if (query === undefined) return undefined;
    queries.push(query);
  }
  return at === data.length ? { name, queries } : undefined;
}
