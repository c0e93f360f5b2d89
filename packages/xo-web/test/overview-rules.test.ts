import t from "tap";
import type { PoolStatus } from "../src/api/status.js";
import { ColumnTable } from "../src/live/column-table.js";
import { capacities } from "../src/overview/fleet-figures.js";
import { poolLines } from "../src/overview/pool-rows.js";

function table(columns: Record<string, (string | number | boolean | null)[]>) {
  const created = new ColumnTable();
  const [first = []] = Object.values(columns);
  created.take({
    state: "s",
    total: first.length,
    ids: first.map((_, i) => `${i}`),
    columns: Object.fromEntries(
      Object.entries(columns).map(([path, values]) => [path, { values }]),
    ),
  });
  return created;
}

t.test("resources of hosts and SRs are added up, by pool and in total", (t) => {
  const hosts = table({
    $pool: ["p", "p", "q"],
    power_state: ["Running", "Running", "Halted"],
    enabled: [true, false, true],
    "cpus.cores": [8, 24, 16],
    "memory.size": [100, 100, 50],
    "memory.usage": [50, null, 10],
    "now.cpu": [0.5, 0.25, null],
  });
  const srs = table({
    $pool: ["p", "p", "p"],
    size: [1000, 70, -1],
    physical_usage: [400, 70, -1],
    content_type: ["user", "iso", "user"],
  });
  const all = capacities(hosts, srs);
  t.match(all.get("p"), {
    hosts: 2,
    enabled: 1,
    cores: 32,
    busyCores: 10,
    measuredCores: 32,
    memory: 200,
    usedMemory: 50,
    storage: 1000,
    usedStorage: 400,
  });
  t.match(
    all.get("q"),
    { enabled: 0, cores: 16, measuredCores: 0 },
    "who is not measured counts for nothing",
  );
  t.match(all.get(""), { hosts: 3, cores: 48, memory: 250, busyCores: 10 });
  t.equal(capacities(new ColumnTable(), new ColumnTable()).get("")?.hosts, 0);
  t.end();
});

t.test("connections and pools are one list", (t) => {
  const connection = (id: string, label: string, more = {}) =>
    ({ id, label, state: "watching", ...more }) as PoolStatus;
  const lines = poolLines(
    [
      connection("s2", "as configured"),
      connection("s1", "gone", { state: "failed", error: { message: "no" } }),
      connection("s3", "by name"),
    ],
    new Map([
      ["p2", "Prague"],
      ["p3", "by name"],
      ["p4", "another's"],
    ]),
    new Map([["s2", "p2"]]),
  );
  t.same(lines, [
    { key: "p4", id: "p4", name: "another's" },
    { key: "s3", state: "watching", name: "by name", id: "p3" },
    { key: "s1", state: "failed", name: "gone", error: "no" },
    { key: "s2", state: "watching", name: "Prague", id: "p2" },
  ]);
  t.end();
});
