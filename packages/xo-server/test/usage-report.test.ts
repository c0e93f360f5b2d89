import type { XportTable } from "@xo-server/parser-pool";
import t from "tap";
import { average, type Averages } from "../src/usage-reports/read-averages.js";
import { toCsv } from "../src/usage-reports/report-csv.js";
import { toHtml } from "../src/usage-reports/report-html.js";
import { toMail } from "../src/usage-reports/report-mail.js";
import { figureLines } from "../src/usage-reports/report-text.js";
import {
  compare,
  toStored,
  type PoolFigures,
  type UsageFigures,
} from "../src/usage-reports/usage-figures.js";

const GiB = 2 ** 30;
const none = {
  vmCpu: [],
  vmMemory: [],
  vmDisk: [],
  vmNetwork: [],
  hostCpu: [],
  hostMemory: [],
  srs: [],
};
const pool: PoolFigures = {
  id: "p",
  name: 'A "pool", <b>',
  hosts: 3,
  vms: 12,
  runningVms: 7,
  cpu: 12.34,
  memory: 40 * GiB,
  memorySize: 100 * GiB,
  storage: GiB,
  storageSize: 0,
  silentHosts: [],
  top: { ...none, vmCpu: [{ id: "v", name: "=cmd()", value: 99.5 }] },
};
const figures: UsageFigures = {
  period: "week",
  from: Date.UTC(2026, 10, 20),
  to: Date.UTC(2026, 10, 27),
  pools: [pool],
  lostPools: [],
};

t.test("figures are compared with those of the last period", async (t) => {
  const last = toStored({
    ...figures,
    to: 5,
    pools: [
      { ...pool, vms: 14, cpu: 2.3, storage: GiB },
      { ...pool, id: "q", name: "old" },
    ],
  });
  t.notOk("top" in last.pools[0]!, "lists are not stored");
  const compared = compare(figures, last);
  t.match(compared, { comparedWith: 5, lostPools: ["old"] });
  const changes = Object.fromEntries(
    figureLines(compared.pools[0]!).map(({ name, change }) => [name, change]),
  );
  t.same(changes, {
    Hosts: "",
    VMs: "−2",
    "Running VMs": "",
    "CPU usage": "+10.0 %",
    "Memory usage": "",
    "Used space of SRs": "",
  });
  t.same(compare(figures, undefined), figures);
});

t.test("what is not known is not a figure", async (t) => {
  const lines = figureLines({ ...pool, cpu: null, memory: null });
  t.match(
    lines.map(({ value }) => value),
    ["3", "12", "7", "unknown", "unknown", "1 GiB of 0 B"],
  );
});

t.test("names are neither markup nor formulas", async (t) => {
  const html = toHtml(figures);
  t.match(html, "A &quot;pool&quot;, &lt;b&gt;");
  t.notMatch(html, "<b>");
  const csv = toCsv(figures);
  t.match(csv, '"A ""pool"", <b>",p,VMs,,,,12,\r\n');
  t.match(csv, ",CPU usage of a VM,'=cmd(),v,percent,99.5,\r\n");
  const { subject } = toMail(figures, "two\nlines");
  t.equal(subject, "two lines: 2026-11-20 to 2026-11-27");
});

t.test("averages leave out what was not measured", async (t) => {
  const columns = 2;
  const legend = "vm\tv\tcpu_usage\tmemory\n";
  const values = [1, 100, 0.5, NaN, 0.1, 300];
  const table = {
    legend: Buffer.from(legend),
    rows: 3,
    columns,
    step: 60,
    end: 180,
    values: Float32Array.from(values),
  } as unknown as XportTable;
  const found = new Map<string, Averages>();
  const all = average(table, 3, found);
  while (all.next().done !== true);
  t.match(found.get("v"), { memory: 200, disk: NaN });
  t.ok(Math.abs(found.get("v")!.cpu - 1.6 / 3) < 1e-6);
  const latest = average(table, 2, found);
  while (latest.next().done !== true);
  t.ok(Math.abs(found.get("v")!.cpu - 0.3) < 1e-6, "rows of the period only");
});
