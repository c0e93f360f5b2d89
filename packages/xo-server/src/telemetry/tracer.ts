import type { WallClock } from "@xo-server/kit";
import type { EndedSpan, Span, SpanOptions } from "./span.js";
import {
  createSpanId,
  createTraceId,
  type SpanContext,
} from "./trace-context.js";

/** Begins traces, or continues those of clients. */
export interface Tracer {
  /** @param parent span of the client; absent: a new trace */
  start(
    name: string,
    parent: SpanContext | undefined,
    options?: SpanOptions,
  ): Span;
}

interface TracerOptions {
  readonly clock: Pick<WallClock, "now">;
  /** Share of the traces that are recorded, from 0 to 1. */
  readonly sampling: number;
  readonly onEnd: (span: EndedSpan) => void;
}

/** A tracer that hands ended spans to the exporter of its options. */
export function createTracer(options: TracerOptions): Tracer {
  return {
    start: (name, parent, spanOptions) =>
      new TracedSpan(options, name, parent, spanOptions),
  };
}

/** Derived from the id of the trace, so that all servers that a trace passes decide alike. */
function isChosen(traceId: string, sampling: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < sampling * 2 ** 32;
}

class TracedSpan implements Span {
  readonly context: SpanContext;
  readonly #tracer: TracerOptions;
  readonly #name: string;
  readonly #parentSpanId: string | undefined;
  readonly #options: SpanOptions;
  readonly #attributes: Record<string, string>;
  readonly #startMs: number;
  readonly #startedAt = performance.now();
  #hasEnded = false;

  constructor(
    tracer: TracerOptions,
    name: string,
    parent: SpanContext | undefined,
    options: SpanOptions = {},
  ) {
    const traceId = parent?.traceId ?? createTraceId();
    const isWanted = parent?.isSampled ?? true;
    this.context = {
      traceId,
      spanId: createSpanId(),
      isSampled: isWanted && isChosen(traceId, tracer.sampling),
    };
    this.#tracer = tracer;
    this.#name = name;
    this.#parentSpanId = parent?.spanId;
    this.#options = options;
    this.#attributes = { ...options.attributes };
    this.#startMs = tracer.clock.now();
  }

  child(name: string, options?: SpanOptions): Span {
    return new TracedSpan(this.#tracer, name, this.context, options);
  }

  setAttribute(name: string, value: string): void {
    this.#attributes[name] = value;
  }

  end(error?: Error): void {
    if (this.#hasEnded || !this.context.isSampled) return;
    this.#hasEnded = true;
    if (error !== undefined) this.#attributes["error.type"] = codeOf(error);
    this.#tracer.onEnd({
      context: this.context,
      parentSpanId: this.#parentSpanId,
      name: this.#name,
      kind: this.#options.kind ?? "internal",
      startMs: this.#startMs,
      durationMs: performance.now() - this.#startedAt,
      attributes: this.#attributes,
      isError: error !== undefined,
    });
  }
}

function codeOf(error: Error & { readonly code?: unknown }): string {
  return typeof error.code === "string" ? error.code : error.name;
}
