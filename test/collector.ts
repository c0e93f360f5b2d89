import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Test } from "tap";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A collector of OpenTelemetry: OTLP over HTTP with JSON. */
export class Collector {
  readonly url: string;
  readonly spans: OtlpSpan[] = [];
  /** All request bodies. */
  received = "";

  static async start(t: Test): Promise<Collector> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const collector = new Collector(`http://127.0.0.1:${port}/v1/traces`);
    server.on("request", (request, response) => {
      void text(request).then((body) => {
        collector.#add(body);
        response.setHeader("content-type", "application/json").end("{}");
      });
    });
    return collector;
  }

  private constructor(url: string) {
    this.url = url;
  }

  childrenOf({ spanId }: OtlpSpan): readonly OtlpSpan[] {
    return this.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  }

  #add(body: string): void {
    this.received += body;
    const { resourceSpans } = JSON.parse(body) as OtlpRequest;
    for (const { scopeSpans } of resourceSpans)
      for (const { spans } of scopeSpans) this.spans.push(...spans);
  }
}

export function attributesOf({ attributes }: OtlpSpan): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue]),
  );
}
