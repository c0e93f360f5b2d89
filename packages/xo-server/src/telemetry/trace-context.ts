import { randomBytes } from "node:crypto";

/** Identifies a span, as in W3C Trace Context: https://www.w3.org/TR/trace-context/ */
export interface SpanContext {
  /** 32 hexadecimal digits, lower case. */
  readonly traceId: string;
  /** 16 hexadecimal digits, lower case. */
  readonly spanId: string;
  /** False: spans of this trace are not recorded. */
  readonly isSampled: boolean;
}

const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_LENGTH = 256;

/** @param text a `traceparent` of a client @returns undefined if it is absent or invalid, which counts as absent */
export function parseTraceparent(text: unknown): SpanContext | undefined {
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  const [, version, traceId, spanId, flags, more] =
    TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  // Only later versions may have further fields.
  if (version === "00" && more !== undefined) return undefined;
  const isSampled = (Number.parseInt(flags!, 16) & 1) === 1;
  return { traceId, spanId, isSampled };
}

/** 16 random bytes in hexadecimal (W3C Trace Context). */
export function createTraceId(): string {
  return randomBytes(16).toString("hex");
}

/** 8 random bytes in hexadecimal (W3C Trace Context). */
export function createSpanId(): string {
  return randomBytes(8).toString("hex");
}
