import type { AnswerShape, RecordBatch, WireEncoding } from "@xo-server/model";
import type { ClassRegistry } from "./class-registry.js";
import type { XportTable } from "./xport-table.js";

/**
 * Bytes that a reader may look at (and scribble on) behind `end`: it puts a
 * stop byte there and reads four bytes at a time.
 */
export const SLACK = 8;

/** What a format gets: bytes of one answer, in order, in as many pieces as they come. */
export interface FormatInput {
  /** The bytes are `bytes[start..end)`; at least SLACK more stand behind `end`. The reader may keep its buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
  /** No more bytes follow. */
  readonly final: boolean;
  readonly shape: AnswerShape;
  /** In the datamodel's spelling; empty where the request named none. */
  readonly className: string;
  /** What the previous piece left behind; undefined for the first. Plain data: it travels between threads. */
  readonly state: unknown;
}

export interface FormatOutput {
  readonly batches: readonly RecordBatch[];
  /** Bytes not used yet: they stand before the next piece. A copy, in a buffer of its own. */
  readonly tail: Uint8Array<ArrayBuffer>;
  readonly state: unknown;
  /** For the final piece. */
  readonly answer?: RawAnswer;
  /** What the formats `xport` (one) and `rrd` (one an archive) read. */
  readonly tables?: readonly XportTable[];
  /** Another way was taken than the one asked for: why. */
  readonly fallbackReason?: string;
}

/** JSON text of a value within a buffer. */
export interface JsonText {
  readonly buffer: ArrayBuffer;
  readonly offset: number;
  readonly length: number;
  /** To be read with parseLenient. */
  readonly lenient: boolean;
}

/** A DecodedAnswer as plain data. */
export type RawAnswer =
  | {
      readonly outcome: "success";
      readonly encoding: WireEncoding;
      readonly value?: JsonText;
      readonly token?: string;
      readonly counts?: readonly (readonly [string, number])[];
    }
  | {
      readonly outcome: "failure";
      readonly encoding: WireEncoding;
      readonly error: readonly string[];
    };

/**
 * A way to read an answer. It holds nothing between two calls: whichever
 * thread is free takes the next piece.
 *
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP, UNSUPPORTED
 */
export type Format = (
  input: FormatInput,
  classes: ClassRegistry,
) => FormatOutput;
