import { XoError } from "@xo-server/model";

/** Thrown at the end of the bytes: the current unit (member, record, event) is read again with the next segment. */
export class NeedMore extends Error {
  override readonly name = "NeedMore";
}

// Thrown once per segment; without a stack trace this is cheap.
const limit = Error.stackTraceLimit;
Error.stackTraceLimit = 0;
export const NEED_MORE = new NeedMore("more bytes are needed");
Error.stackTraceLimit = limit;

/** BAD_ANSWER with a reason. The stream, which has the first bytes of the answer, fills in `start`. */
export function badAnswer(reason: string): XoError {
  return new XoError("BAD_ANSWER", { address: "the pool", reason, start: "" });
}

/** XoError ANSWER_TOO_DEEP. @param limit levels of nesting */
export function tooDeep(limit: number): XoError {
  return new XoError("ANSWER_TOO_DEEP", { limit });
}

/** A byte for an error message. */
export function describeByte(byte: number | undefined): string {
  if (byte === undefined) return "the end";
  if (byte > 0x20 && byte < 0x7f) return `'${String.fromCharCode(byte)}'`;
  return `byte 0x${byte.toString(16).padStart(2, "0")}`;
}
