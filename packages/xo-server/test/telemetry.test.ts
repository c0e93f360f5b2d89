import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLogger } from "@xo-server/kit";
import t, { type Test } from "tap";
import { loadConfig } from "../src/config/load-config.js";
import { toTelemetryMetrics } from "../src/metrics/telemetry-metrics.js";
import { SpanExporter } from "../src/telemetry/span-exporter.js";
import type { EndedSpan } from "../src/telemetry/span.js";
import { parseTraceparent } from "../src/telemetry/trace-context.js";
import { createTracer } from "../src/telemetry/tracer.js";
import { FakeClock } from "./fake-clock.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

t.test("a traceparent is read as W3C Trace Context has it", async (t) => {
  const context = { traceId: TRACE, spanId: SPAN };
  t.same(parseTraceparent(`00-${TRACE}-${SPAN}-01`), {
    ...context,
    isSampled: true,
  });
  t.same(parseTraceparent(`00-${TRACE}-${SPAN}-00`), {
    ...context,
    isSampled: false,
  });
  t.same(parseTraceparent(`cc-${TRACE}-${SPAN}-03-later`), {
    ...context,
    isSampled: true,
  });
});

t.test("an invalid traceparent counts as absent", async (t) => {
  for (const text of [
    undefined,
    7,
    "",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `cc-${TRACE}-${SPAN}-01-${"x".repeat(300)}`,
  ])
    t.equal(parseTraceparent(text), undefined, String(text));
});

t.test("parts of a trace are recorded if the trace is", async (t) => {
  const ended: EndedSpan[] = [];
  const onEnd = (span: EndedSpan) => void ended.push(span);
  const clock = new FakeClock();
  const none = createTracer({ clock, sampling: 0, onEnd });
  const span = none.start("a", undefined);
  span.child("b").end();
  span.end();
  t.same(ended, []);

  const all = createTracer({ clock, sampling: 1, onEnd });
  const root = all.start("a", undefined, { kind: "server" });
  root.child("b").end(Object.assign(new Error("secret"), { code: "FAILED" }));
  root.end();
  root.end();
  t.match(ended, [
    {
      name: "b",
      parentSpanId: root.context.spanId,
      isError: true,
      attributes: { "error.type": "FAILED" },
    },
    { name: "a", parentSpanId: undefined, isError: false },
  ]);
  t.equal(ended.length, 2);
  t.equal(ended[0]!.context.traceId, root.context.traceId);
  t.notOk(JSON.stringify(ended).includes("secret"));
});

/** A collector that answers with these statuses, the last one again and again. */
async function startCollector(t: Test, ...statuses: number[]) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      requests.count++;
      response.writeHead(
        statuses.length > 1 ? statuses.shift()! : statuses[0]!,
      );
      response.end();
    });
  });
  const requests = { count: 0 };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const clock = new FakeClock();
  const exporter = new SpanExporter({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    readToken: () => Promise.resolve(""),
    resource: {},
    clock,
    logger: silentLogger,
  });
  const onEnd = (span: EndedSpan) => {
    exporter.add(span);
  };
  const tracer = createTracer({ clock, sampling: 1, onEnd });
  return {
    exporter,
    requests,
    add: (count: number) => {
      for (let i = 0; i < count; i++) tracer.start("a", undefined).end();
    },
  };
}

t.test("a collector that fails gets the spans again", async (t) => {
  const { exporter, requests, add } = await startCollector(t, 503, 200);
  add(2);
  await exporter.flush();
  t.same(exporter.figures, { queued: 2, exported: 0, dropped: 0 });
  await exporter.stop();
  t.same(exporter.figures, { queued: 0, exported: 2, dropped: 0 });
  t.equal(requests.count, 2);
});

t.test("spans that a collector refuses are dropped and counted", async (t) => {
  const { exporter, add } = await startCollector(t, 400);
  add(3);
  await exporter.stop();
  t.same(exporter.figures, { queued: 0, exported: 0, dropped: 3 });
});

t.test("the queue is bounded", async (t) => {
  const { exporter, requests, add } = await startCollector(t, 503);
  add(5000);
  t.same(exporter.figures, { queued: 4096, exported: 0, dropped: 904 });
  const [, , dropped] = toTelemetryMetrics(exporter.figures);
  t.match(dropped, { samples: [{ value: 904 }] });
  await exporter.stop();
  t.equal(requests.count, 1);
});

t.test("a wrong configuration of traces is refused", async (t) => {
  const load = (yaml: string) => {
    const home = t.testdir({ "config.yaml": yaml });
    return () => loadConfig(undefined, {}, { env: {}, cwd: home, home });
  };
  for (const settings of [
    "url: 'ftp://host/'",
    "url: 'http://user:secret@host/'",
    "url: 'http://host/', token: secret",
    "url: 'https://host/', token: secret, tokenEnv: TOKEN",
    "sampling: 2",
  ])
    t.throws(load(`telemetry: { ${settings} }`), { code: "CONFIG_INVALID" });
  t.doesNotThrow(load("telemetry: { url: 'https://host/', tokenEnv: TOKEN }"));
  t.same(toTelemetryMetrics(undefined), []);
});
