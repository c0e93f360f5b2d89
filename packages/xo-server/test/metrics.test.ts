import t from "tap";
import {
  toCatalogMetrics,
  toQueryMetrics,
} from "../src/metrics/catalog-metrics.js";
import {
  byLabel,
  counter,
  gauge,
  toExposition,
} from "../src/metrics/exposition.js";
import { startTestServer } from "./test-server.js";

interface Family {
  readonly kind: string;
  readonly help: string;
  readonly samples: Map<string, number>;
}

/** Reads the text as Prometheus does, and refuses what it would refuse. */
function read(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let last = "";
  let help = "";
  for (const line of text.split("\n").slice(0, -1)) {
    const [, word, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === "HELP") help = rest!;
    else if (word === "TYPE") {
      if (families.has(name!)) throw new Error(`twice: ${name}`);
      families.set((last = name!), { kind: rest!, help, samples: new Map() });
    } else {
      const [, sample, value] =
        /^([a-z_0-9]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) (\S+)$/.exec(
          line,
        ) ?? [];
      if (sample?.startsWith(last) !== true) throw new Error(`bad: ${line}`);
      families.get(last)!.samples.set(sample, Number(value));
    }
  }
  return families;
}

t.test("figures are written as Prometheus reads them", async (t) => {
  const text = toExposition([
    gauge("xo_a_bytes", "First line\nand \\ second.", 1.5e21),
    counter("xo_b_total", "Many.", Infinity),
    byLabel({ name: "xo_c", help: "Odd.", kind: "gauge" }, "label", {
      'a"b\\c\nd': 2,
      plain: -1,
    }),
    { name: "xo_d", help: "None.", kind: "gauge", samples: [] },
  ]);
  t.equal(
    text,
    `# HELP xo_a_bytes First line\\nand \\\\ second.
# TYPE xo_a_bytes gauge
xo_a_bytes 1.5e+21
# HELP xo_b_total Many.
# TYPE xo_b_total counter
xo_b_total +Inf
# HELP xo_c Odd.
# TYPE xo_c gauge
xo_c{label="a\\"b\\\\c\\nd"} 2
xo_c{label="plain"} -1
# HELP xo_d None.
# TYPE xo_d gauge
`,
  );
});

t.test("metrics of the server contain no names", async (t) => {
  const { get, pools, connect } = await startTestServer(
    t,
    `
pools:
  - { label: Paris, hosts: [192.0.2.1], password: hunter2 }
  - { label: Rome, hosts: [192.0.2.2], password: hunter2 }
inventory: { recordCacheBytes: 12345, ringSize: 1000 }
`,
  );
  pools[0]!.become({ state: "watching" });
  await connect();
  const answer = await get("/metrics");
  t.equal(answer.status, 200);
  t.match(answer.headers.get("content-type"), /^text\/plain; version=0\.0\.4/);
  t.equal(answer.headers.get("cache-control"), "no-store");
  const text = await answer.text();
  t.notMatch(text, /paris|rome|hunter2|192\.0\.2/i);
  const families = read(text);
  const value = (name: string) =>
    families.get(name.replace(/\{.*/, ""))?.samples.get(name);
  t.equal(value('xo_inventory_pools{state="watching"}'), 1);
  t.equal(value('xo_inventory_pools{state="connecting"}'), 1);
  t.equal(value('xo_inventory_pools{state="failed"}'), 0);
  t.equal(value("xo_inventory_record_cache_limit_bytes"), 12345);
  t.equal(value("xo_inventory_feed_limit_bytes"), 74_000);
  t.equal(value("xo_inventory_changes_total"), 0);
  t.equal(value("xo_api_clients"), 1);
  t.equal(value("xo_stats_hosts"), 0);
  t.ok(value("xo_stats_limit_bytes")! >= 2 ** 26);
  t.ok(value("xo_process_resident_memory_bytes")! > 1e7);
  t.ok(value('xo_process_cpu_seconds_total{mode="user"}')! > 0);
  for (const [name, { kind, help, samples }] of families) {
    t.match(name, /^xo_[a-z0-9_]+$/);
    t.match(help, /\.$/, name);
    t.equal(kind === "counter", name.endsWith("_total"), name);
    for (const figure of samples.values()) t.ok(figure >= 0, name);
  }
});

t.test("delays are a histogram that adds up", async (t) => {
  const { get } = await startTestServer(t);
  const text = await (await get("/metrics")).text();
  const { kind, samples } = read(text).get("xo_event_loop_delay_seconds")!;
  t.equal(kind, "histogram");
  const name = "xo_event_loop_delay_seconds";
  const buckets = [...samples].filter(([sample]) => sample.includes("le="));
  const counts = buckets.map(([, count]) => count);
  t.same(
    counts,
    [...counts].sort((a, b) => a - b),
  );
  t.equal(
    samples.get(`${name}_bucket{le="+Inf"}`),
    samples.get(`${name}_count`),
  );
  t.ok(samples.has(`${name}_sum`));
});

t.test("catalog and queries have figures too", async (t) => {
  const cache = { objects: 1, bytes: 2, limitBytes: 3, hits: 4, misses: 5 };
  const catalog = {
    classes: 6,
    objects: 7,
    tableBytes: 8,
    cache,
    feedBytes: 9,
  };
  const queries = {
    columns: 12,
    columnBytes: 13,
    columnLimitBytes: 14,
    metricsBytes: 17,
  };
  const families = read(
    toExposition([
      ...toCatalogMetrics({
        ...catalog,
        built: 10,
        refreshed: 18,
        unchanged: 11,
      }),
      ...toQueryMetrics({ ...queries, results: 15, subscriptions: 16 }),
    ]),
  );
  const values = [...families.values()].flatMap(({ samples }) => [
    ...samples.values(),
  ]);
  t.same(
    values.sort((a, b) => a - b),
    Array.from({ length: 18 }, (_, i) => i + 1),
  );
});

t.test("metrics have the names of this release only", async (t) => {
  const { get } = await startTestServer(t);
  const families = read(await (await get("/metrics")).text());
  for (const [name, oldName] of [
    ["xo_query_latest_metrics_bytes", "xo_query_now_bytes"],
    ["xo_query_subscribers", "xo_query_readers"],
  ] as const) {
    t.ok(families.has(name), name);
    t.notOk(families.has(oldName), oldName);
  }
});

t.test("the snapshot cache has metrics if it is enabled", async (t) => {
  const { createInventory } = await import("@xo-server/inventory");
  const { toInventoryMetrics } =
    await import("../src/metrics/inventory-metrics.js");
  const { stats, revision } = createInventory();
  const memory = { bytes: 1, droppedBytes: 2, restoreMs: 3000 };
  const figures = (of: typeof stats) =>
    toInventoryMetrics({ stats: of, revision }, []).flatMap(
      ({ name, samples }) =>
        name.startsWith("xo_inventory_snapshot_cache_")
          ? [samples[0]?.value]
          : [],
    );
  t.same(figures(stats), []);
  t.same(
    figures({
      ...stats,
      snapshotCache: { ...memory, lastCheckpointAt: 4000, failing: 5 },
    }),
    [1, 3, 2, 4, 5],
  );
});
