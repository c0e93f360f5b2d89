import t from "tap";
import {
  areaOf,
  neighbour,
  rectOfCell,
  spotAt,
} from "../src/heat-map/find-cell.js";
import { toFleet, type FleetTables } from "../src/heat-map/fleet-tree.js";
import {
  boundsOf,
  heatMetrics,
  highest,
  levelOf,
  LEVELS,
  NO_FIGURE,
  valuesOf,
} from "../src/heat-map/heat-scale.js";
import { inSlices, type Steps } from "../src/heat-map/in-slices.js";
import { layOut, type FleetLayout } from "../src/heat-map/lay-out.js";
import { ColumnTable } from "../src/live/column-table.js";

function table(ids: readonly string[], columns: Record<string, unknown[]>) {
  const created = new ColumnTable();
  const reported = Object.entries(columns).map(([path, values]) => [
    path,
    { values },
  ]);
  created.take({
    state: "s",
    total: ids.length,
    ids: [...ids],
    columns: Object.fromEntries(reported) as never,
  });
  return created;
}

function done<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Two pools of two hosts; VM i runs on host i % 4, every seventh nowhere. */
function fleet(count: number): FleetTables {
  const vms = Array.from({ length: count }, (_, i) => i);
  return {
    pools: table(["p1", "p2"], { name_label: ["beta", "alpha"] }),
    hosts: table(["h0", "h1", "h2", "h3"], {
      name_label: ["host 10", "host 9", "x", "y"],
      $pool: ["p1", "p1", "p2", "p2"],
    }),
    vms: table(
      vms.map((i) => `v${i}`),
      {
        power_state: vms.map((i) => (i % 7 === 6 ? "Halted" : "Running")),
        $container: vms.map((i) => (i % 7 === 6 ? "p1" : `h${i % 4}`)),
        $pool: vms.map((i) => (i % 4 < 2 || i % 7 === 6 ? "p1" : "p2")),
        "CPUs.number": vms.map((i) => 1 + (i % 8)),
      },
    ),
  };
}

function layoutOf(count: number): FleetLayout {
  const tables = fleet(count);
  const cpus = tables.vms.numbers("CPUs.number");
  const box = { width: 800, height: 400 };
  return done(layOut(done(toFleet(tables, {}, false)), box, (vm) => cpus[vm]!));
}

t.test("pools and hosts are sorted by name, VMs placed on their hosts", (t) => {
  const tables = fleet(28);
  const names = (withHalted: boolean, scope = {}) =>
    done(toFleet(tables, scope, withHalted)).map(({ name, hosts }) => [
      name,
      ...hosts.map(({ name, vms }) => `${name}: ${vms.length}`),
    ]);
  t.same(names(false), [
    ["alpha", "x: 6", "y: 6"],
    ["beta", "host 9: 6", "host 10: 6"],
  ]);
  t.same(names(true)[1], ["beta", ": 4", "host 9: 6", "host 10: 6"]);
  t.same(names(false, { pool: "p2", host: "h3" }), [["alpha", "y: 6"]]);
  t.end();
});

t.test(
  "cells fill their hosts, do not overlap, and have the right sizes",
  (t) => {
    const layout = layoutOf(280);
    const { hosts, rects, vms } = layout;
    t.equal(new Set(vms).size, 240, "each VM once");
    for (const { x, y, width, height, first, end, node } of hosts) {
      t.equal(end - first, node.vms.length);
      for (let cell = first; cell < end; cell++) {
        const cellRect = rectOfCell(layout, cell);
        const isInside =
          cellRect.x >= x - 0.01 &&
          cellRect.y >= y - 0.01 &&
          cellRect.x + cellRect.width <= x + width + 0.01 &&
          cellRect.y + cellRect.height <= y + height + 0.01;
        if (!isInside) t.fail(`cell ${cell} is not within its host`);
      }
    }
    const area = (cell: number) => rects[4 * cell + 2]! * rects[4 * cell + 3]!;
    const { first, end } = hosts[0]!;
    t.ok(area(first) > 2 * area(end - 1), "seven vCPUs and three");
    t.end();
  },
);

t.test("the same data have the same layout", (t) => {
  t.same(layoutOf(280).rects, layoutOf(280).rects);
  t.end();
});

t.test("the cell under the pointer is found, and those beside it", (t) => {
  const layout = layoutOf(280);
  for (const cell of [0, 57, 239]) {
    const { x, y, width, height } = rectOfCell(layout, cell);
    const spot = spotAt(layout, x + width / 2, y + height / 2);
    t.match(spot, { kind: "vm", cell });
    t.equal(areaOf(layout, cell), spot?.kind === "vm" ? spot.area : null);
  }
  const head = layout.hosts[0]!;
  t.equal(spotAt(layout, head.x + 1, head.y + 1)?.kind, "host");
  t.equal(spotAt(layout, 1, 1)?.kind, "pool");
  t.equal(spotAt(layout, -5, 5), undefined);
  const right = neighbour(layout, 0, "right");
  t.ok(rectOfCell(layout, right).x > rectOfCell(layout, 0).x);
  let cell = right;
  for (let i = 0; i < 500; i++) cell = neighbour(layout, cell, "left");
  t.equal(neighbour(layout, cell, "left"), cell, "there is an end");
  t.end();
});

t.test("levels rise with values; no value has a level of its own", (t) => {
  for (const metric of heatMetrics) {
    t.equal(levelOf(metric, NaN), NO_FIGURE);
    t.equal(levelOf(metric, 0), 1);
    t.equal(levelOf(metric, Infinity), LEVELS);
    t.same(
      boundsOf(metric).map((bound) => levelOf(metric, bound)),
      [2, 3, 4, 5, 6, 7],
    );
  }
  const now = Float64Array.of(5, NaN);
  t.same(valuesOf("memory", now, Float64Array.of(10, 10)), [0.5, NaN]);
  t.end();
});

t.test("the highest are found, the highest first", (t) => {
  const values = Float64Array.of(3, NaN, 9, 1, 9, 4);
  t.same(
    highest(values, 3, () => true),
    [2, 4, 5],
  );
  t.same(
    highest(values, 9, (index) => index !== 2),
    [4, 5, 0, 3],
  );
  t.end();
});

t.test("work in slices can be aborted", async (t) => {
  function* count(): Steps<number> {
    const end = performance.now() + 20;
    while (performance.now() < end) yield;
    return 7;
  }
  t.equal(await inSlices(count(), () => true), 7);
  t.equal(await inSlices(count(), () => false), undefined);
});

t.test("columns keep values that are not sent again", (t) => {
  const columns = new ColumnTable();
  const first = {
    state: "1",
    total: 3,
    ids: ["a", "b", "c"],
    columns: {
      pool: { values: ["p", null], indexes: [0, 0, 1] },
      cpu: { step: 0.001, values: [500, null, 1] },
    },
  };
  t.ok(columns.take(first));
  t.same(columns.values("pool"), ["p", "p", null]);
  t.same([...columns.numbers("cpu")], [0.5, NaN, 0.001]);
  t.same([...columns.numbers("pool")], [NaN, NaN, NaN]);
  const stamp = columns.stampOf(["pool"]);
  const next = {
    state: "2",
    total: 3,
    columns: { cpu: { step: 1, values: [1, 2, 3] } },
  };
  t.ok(columns.take(next));
  t.equal(columns.stampOf(["pool"]), stamp);
  t.not(columns.stampOf(["cpu"]), "0");
  t.same([...columns.numbers("cpu")], [1, 2, 3]);
  t.same(columns.ids, ["a", "b", "c"]);
  t.notOk(columns.take({ state: "2", total: 3, columns: {} }));
  t.end();
});
