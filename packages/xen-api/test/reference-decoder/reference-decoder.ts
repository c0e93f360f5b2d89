import {
  classNameOf,
  EventOperation,
  XoError,
  type DecodedAnswer,
  type DecodeRequest,
} from "@xo-server/model";
import { toDeclaredType } from "../../src/calls/declared-type.js";
import type {
  DecodeHandlers,
  Decoder,
  DecodeStream,
} from "../../src/decoder.js";
import { encodeBatch, type ParsedRecord } from "./encode-batch.js";
import { readEnvelope, type Envelope } from "./read-envelope.js";

export interface ReferenceDecoderOptions {
  /** Maximum size of an answer, in bytes. Default 512 MiB, as the answer becomes one string. */
  readonly maxBytes?: number;
  /** Maximum nesting depth. Default 1,000. */
  readonly maxDepth?: number;
}

const SEGMENT_BYTES = 65_536;

/**
 * Reference implementation of Decoder for tests: JSON.parse and the parser of
 * the xmlrpc package on the whole answer, on the calling thread. Shares no code
 * with parser-pool.
 */
export function createReferenceDecoder(
  options: ReferenceDecoderOptions = {},
): Decoder {
  const limits = {
    maxBytes: options.maxBytes ?? 512 * 1024 * 1024,
    maxDepth: options.maxDepth ?? 1000,
  };
  return {
    open: (request, handlers) => new ReferenceStream(request, handlers, limits),
    close: () => Promise.resolve(),
  };
}

class ReferenceStream implements DecodeStream {
  readonly #request: DecodeRequest;
  readonly #handlers: DecodeHandlers;
  readonly #limits: Required<ReferenceDecoderOptions>;
  readonly #parts: Uint8Array[] = [];
  #segment = new Uint8Array(SEGMENT_BYTES);
  #length = 0;
  #failure: Error | undefined;

  constructor(
    request: DecodeRequest,
    handlers: DecodeHandlers,
    limits: Required<ReferenceDecoderOptions>,
  ) {
    this.#request = request;
    this.#handlers = handlers;
    this.#limits = limits;
  }

  space(): Uint8Array {
    if (this.#segment.length === 0)
      this.#segment = new Uint8Array(SEGMENT_BYTES);
    return this.#segment;
  }

  commit(length: number): boolean {
    this.#length += length;
    if (this.#failure !== undefined) return true;
    if (this.#length > this.#limits.maxBytes) {
      const limit = this.#limits.maxBytes;
      this.#failure = new XoError("ANSWER_TOO_LARGE", {
        bytes: this.#length,
        limit,
      });
      this.#handlers.onError?.(this.#failure);
      return true;
    }
    this.#parts.push(this.#segment.subarray(0, length));
    this.#segment = this.#segment.subarray(length);
    return true;
  }

  async end(): Promise<DecodedAnswer> {
    if (this.#failure !== undefined) throw this.#failure;
    const bytes = Buffer.concat(this.#parts);
    try {
      const { envelope, isUtf8 } = await this.#read(bytes);
      const { encoding, error, value } = envelope;
      if (error !== undefined) return { outcome: "failure", encoding, error };
      // XAPI repeats invalid text unescaped in errors only (WIRE.md 3).
      if (!isUtf8) throw new Error("invalid UTF-8");
      return this.#toAnswer(envelope, value);
    } catch (error) {
      throw error instanceof XoError ? error : this.#bad(bytes, error);
    }
  }

  abort(reason: Error): void {
    this.#failure ??= reason;
    this.#parts.length = 0;
  }

  async #read(bytes: Buffer): Promise<{ envelope: Envelope; isUtf8: boolean }> {
    const text = bytes.toString();
    const isUtf8 = !text.includes("\ufffd") || Buffer.from(text).equals(bytes);
    const { encoding } = this.#request;
    if (encoding === "json-rpc") checkDepth(bytes, this.#limits.maxDepth);
    const envelope = await readEnvelope(text, encoding, this.#limits.maxDepth);
    return { envelope, isUtf8 };
  }

  #toAnswer({ encoding }: Envelope, value: unknown): DecodedAnswer {
    const { shape, className = "" } = this.#request;
    if (shape === "value") return { outcome: "success", encoding, value };
    if (shape === "records") {
      this.#emit(
        Object.entries(members(value)).map(([ref, record]) => ({
          className,
          ref,
          operation: EventOperation.add,
          record: typedRecord(className, record),
        })),
      );
      return { outcome: "success", encoding };
    }
    const { events, token, valid_ref_counts: counts } = members(value);
    if (!Array.isArray(events) || typeof token !== "string")
      throw new Error("not what event.from answers");
    this.#emit(events.map(toRecord));
    const validRefCounts = new Map<string, number>();
    for (const [name, count] of Object.entries(members(counts ?? {})))
      validRefCounts.set(classNameOf(name), Number(count));
    return { outcome: "success", encoding, token, validRefCounts };
  }

  #emit(records: readonly ParsedRecord[]): void {
    if (records.length > 0) this.#handlers.onBatch?.(encodeBatch(records));
  }

  #bad(bytes: Buffer, error: unknown): XoError {
    const reason = error instanceof Error ? error.message : String(error);
    const start = JSON.stringify(bytes.subarray(0, 64).toString());
    return new XoError("BAD_ANSWER", {
      address: this.#request.lane,
      reason,
      start,
    });
  }
}

function toRecord(event: unknown): ParsedRecord {
  const { class: name, ref, operation, snapshot } = members(event);
  if (typeof name !== "string" || typeof ref !== "string")
    throw new Error("an event without class or ref");
  if (operation !== "add" && operation !== "mod" && operation !== "del")
    throw new Error("an event with an unknown operation");
  const className = classNameOf(name);
  const record =
    snapshot === undefined ? undefined : typedRecord(className, snapshot);
  return { className, ref, operation: EventOperation[operation], record };
}

function typedRecord(
  className: string,
  record: unknown,
): Record<string, unknown> {
  return members(toDeclaredType(members(record), `${className} record`));
}

function members(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("a struct was expected");
  return value as Record<string, unknown>;
}

/** JSON.parse has no depth limit, but recursive code that processes the value would overflow its stack. */
function checkDepth(bytes: Uint8Array, limit: number): void {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inText) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) inText = true;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limit) throw new XoError("ANSWER_TOO_DEEP", { limit });
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
}
