import t from "tap";
import { reportText } from "../src/harness/publish.js";
import { toResult, type Report } from "../src/harness/result.js";
import { poolsChart } from "../src/pools/pools-chart.js";
import { poolsDocument } from "../src/pools/pools-document.js";
import { checkShape } from "../src/pools/smoke.js";

const figures = {
  ms: 312.3456,
  longestBlockMs: 7.5,
  longestOwnBlockMs: 3,
  blocksOver50Ms: 0,
  cpuMs: 400,
  peakRssBytes: 260e6,
  baselineRssBytes: 60e6,
  retainedBytes: 130e6,
  retainedBytesPerObject: 1140,
  objects: 114_000,
  bytes: 131e6,
};

const report: Report = {
  results: [
    toResult(
      { pool: "A", mode: "download", place: "main" },
      { runs: [figures, { ...figures, ms: 100 }] },
    ),
    toResult(
      { pool: "A", mode: "json-rpc", place: "worker" },
      { runs: [figures] },
    ),
    toResult(
      { pool: "A", mode: "json-in-xml", place: "main" },
      { runs: [], failure: "no | such transport" },
    ),
  ],
  machine: {
    cpu: "A <fast> one",
    cores: 2,
    memoryBytes: 24e9,
    system: "linux x64",
    node: "20.20.2",
  },
  versions: { "xen-api": "4.7.6" },
  commit: "abc",
  date: "2026-11-21",
};

t.test(
  "the document states the measurement, the machine and the number of runs",
  async (t) => {
    const text = poolsDocument(report);
    t.match(
      text,
      "| json-rpc | worker | 312 | 312..312 | 7.50 | 3.00 | 0.00 | 400 | 260 | 200 | 1,140 | 1 |",
    );
    t.match(text, "| download | main | 206 | 100..312 |");
    t.match(text, "Pool A: 114,000 objects, 131 MB as JSON-RPC");
    t.match(
      text,
      "2 cores, 24.0 GB of memory, linux x64, Node.js 20.20.2; xen-api 4.7.6",
    );
    t.match(
      text,
      "not measured: no \\| such transport",
      "a row without figures has a reason",
    );
  },
);

t.test(
  "the JSON file holds the medians by name, one row per line",
  async (t) => {
    const text = reportText(report);
    const parsed = JSON.parse(text) as Report;
    t.match(parsed.results[1], {
      pool: "A",
      mode: "json-rpc",
      place: "worker",
      ms: 312.35,
      longestBlockMs: 7.5,
      longestOwnBlockMs: 3,
      runs: 1,
    });
    t.same(parsed.results[0]!.spread["ms"], [100, 312.35]);
    t.equal(
      text.split("\n").filter((line) => line.includes('"pool"')).length,
      3,
    );
    t.equal(parsed.machine.cores, 2);
  },
);

t.test("the chart has a bar for each value, and a legend", async (t) => {
  const svg = poolsChart(report.results);
  t.equal(
    svg.match(/<rect [^>]*><title>/g)?.length,
    2,
    "none for a row without figures",
  );
  t.match(svg, "Pool A, json-rpc worker: 312");
  t.match(svg, "prefers-color-scheme: dark");
  t.match(svg, "logarithmic");
});

t.test("markup in names stays text in the chart", async (t) => {
  const svg = poolsChart([
    toResult(
      { pool: "<b>&", mode: "auto", place: "auto" },
      { runs: [figures] },
    ),
  ]);
  t.notMatch(svg, "<b>");
  t.match(svg, "&lt;b&gt;&amp;");
});

t.test("a smoke run fails when a row has no figures", async (t) => {
  t.throws(() => checkShape(report), /json-in-xml main: no \| such transport/);
  t.doesNotThrow(() =>
    checkShape({ ...report, results: report.results.slice(0, 2) }),
  );
});
