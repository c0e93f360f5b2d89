import { XoError } from "@xo-server/model";

/** Thrown by a reader that ran out of bytes: the unit it is in starts anew with the next segment. */
export class NeedMore extends Error {
  override readonly name = "NeedMore";
}

// Thrown once a segment; without the stack it costs next to nothing.
const limit = Error.stackTraceLimit;
Error.stackTraceLimit = 0;
export const NEED_MORE = new NeedMore("more bytes are needed");
Error.stackTraceLimit = limit;

/** The answer is not what it should be. `start` is filled in by the stream, which still knows how the answer began. */
export function badAnswer(reason: string): XoError {
  return new XoError("BAD_ANSWER", { address: "the pool", reason, start: "" });
}

export function tooDeep(limit: number): XoError {
  return new XoError("ANSWER_TOO_DEEP", { limit });
}

/** A byte as a message shows it. */
export function describeByte(byte: number | undefined): string {
  if (byte === undefined) return "the end";
  if (byte > 0x20 && byte < 0x7f) return `'${String.fromCharCode(byte)}'`;
  return `byte 0x${byte.toString(16).padStart(2, "0")}`;
}
