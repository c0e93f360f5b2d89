import type { SpanContext } from "./trace-context.js";

export type SpanKind = "internal" | "server" | "client";

/** Without parameters and texts of errors, which may contain secrets. */
export type SpanAttributes = Readonly<Record<string, string>>;

/** An ended span. */
export interface EndedSpan {
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly attributes: SpanAttributes;
  readonly isError: boolean;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
}

/** A unit of work in progress. */
export interface Span {
  readonly context: SpanContext;
  child(name: string, options?: SpanOptions): Span;
  setAttribute(name: string, value: string): void;
  /** @param error why the work failed; its code is recorded */
  end(error?: Error): void;
}

/** Ends the span when the work has ended. */
export async function inSpan<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    const result = await run();
    span.end();
    return result;
  } catch (error) {
    span.end(error as Error);
    throw error;
  }
}
