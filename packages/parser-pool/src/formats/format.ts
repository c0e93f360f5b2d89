import type { AnswerShape, RecordBatch, WireEncoding } from "@xo-server/model";
import type { ClassRegistry } from "./class-registry.js";
import type { XportTable } from "./xport-table.js";

/**
 * Bytes after `end` that a reader may read and overwrite: it writes a stop byte
 * there and reads four bytes at a time.
 */
export const SLACK = 8;

/** Input of a format: the next bytes of one answer. */
export interface FormatInput {
  /** The input is `bytes[start..end)`; at least SLACK bytes follow `end`. The format takes ownership of the buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
  /** No more bytes follow. */
  readonly final: boolean;
  readonly shape: AnswerShape;
  /** In the spelling of the data model; empty if the request names no class. */
  readonly className: string;
  /** `state` of the previous output; undefined for the first input. Plain data: transferred between threads. */
  readonly state: unknown;
}

export interface FormatOutput {
  readonly batches: readonly RecordBatch[];
  /** Bytes not consumed, to be put in front of the next input. A copy in a separate buffer. */
  readonly tail: Uint8Array<ArrayBuffer>;
  readonly state: unknown;
  /** For the final input. */
  readonly answer?: RawAnswer;
  /** Output of the formats `xport` (one table) and `rrd` (one per archive). */
  readonly tables?: readonly XportTable[];
  /** Why another parser was used than the configured one. */
  readonly fallbackReason?: string;
}

/** JSON text of a value within a buffer. */
export interface JsonText {
  readonly buffer: ArrayBuffer;
  readonly offset: number;
  readonly length: number;
  /** Must be parsed with parseLenient. */
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
 * Decodes an answer piece by piece. Has no state between two calls: any thread
 * may run the next piece.
 *
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP, UNSUPPORTED
 */
export type Format = (
  input: FormatInput,
  classes: ClassRegistry,
) => FormatOutput;
