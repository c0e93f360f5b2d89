import type { EndedSpan, SpanAttributes, SpanKind } from "./span.js";

/** Numbers of the enumerations SpanKind and StatusCode in opentelemetry-proto, trace/v1/trace.proto. */
const KINDS: Readonly<Record<SpanKind, number>> = {
  internal: 1,
  server: 2,
  client: 3,
};
const STATUS_ERROR = 2;

/** A request of OTLP over HTTP with JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
export function toOtlpJson(
  spans: readonly EndedSpan[],
  resource: SpanAttributes,
): string {
  const scopeSpans = [
    { scope: { name: "xo-server" }, spans: spans.map(toOtlpSpan) },
  ];
  return JSON.stringify({
    resourceSpans: [
      { resource: { attributes: toAttributes(resource) }, scopeSpans },
    ],
  });
}

function toOtlpSpan(span: EndedSpan) {
  const { context, parentSpanId, name, kind, startMs, durationMs } = span;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(startMs + durationMs),
    attributes: toAttributes(span.attributes),
    status: span.isError ? { code: STATUS_ERROR } : {},
  };
}

function toAttributes(attributes: SpanAttributes) {
  return Object.entries(attributes).map(([key, stringValue]) => ({
    key,
    value: { stringValue },
  }));
}

/** Nanoseconds as decimal text, because they exceed the precision of a number. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}
