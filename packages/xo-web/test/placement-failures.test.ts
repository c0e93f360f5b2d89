import type { Action, FailoverPlan, Survival } from "@xo-server/placement";
import t from "tap";
import type { Json } from "@xo-server/kit";
import { ColumnTable } from "../src/live/column-table.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import type { Host } from "../src/objects/infrastructure.js";
import {
  ableToFail,
  nextToFail,
  readFailed,
  toggled,
  writeFailed,
} from "../src/placement/failures/failed-hosts.js";
import { fleetOf, vmPaths } from "../src/placement/failures/fleet.js";
import { outcomeOf } from "../src/placement/failures/outcome.js";
import {
  stepText,
  survivalSentence,
  toleranceWarning,
} from "../src/placement/failures/survival-text.js";

const GIB = 2 ** 30;
const english = { text: en, formats: new Formats("en", en) };
const german = { text: de, formats: new Formats("de", de) };

function host(id: string, more: object = {}): Host {
  return {
    id,
    type: "host",
    name_label: id,
    enabled: true,
    power_state: "Running",
    memory: { size: 64 * GIB, usage: 8 * GIB },
    ...more,
  } as unknown as Host;
}

/** Rows as `vmPaths` has them. */
type VmRow = readonly [
  id: string,
  host: string,
  gib: number,
  priority: string,
  state?: string,
];

function tableOf(rows: readonly VmRow[]): ColumnTable {
  const columns: Record<string, Json> = {};
  const values = rows.map(([id, host, gib, priority, state = "Running"]) => [
    `vm ${id}`,
    host,
    state,
    gib * GIB,
    priority,
    30,
  ]);
  for (const [i, path] of vmPaths.entries())
    columns[path] = { values: values.map((row) => row[i] ?? null) };
  const table = new ColumnTable();
  table.take({
    ids: rows.map(([id]) => id),
    total: rows.length,
    state: "1",
    columns,
  });
  return table;
}

const fleet = fleetOf(
  [
    host("h10"),
    host("h2"),
    host("h3", { enabled: false }),
    host("h4", { power_state: "Halted" }),
  ],
  tableOf([
    ["a", "h2", 4, "restart"],
    ["b", "h2", 2, "best-effort"],
    ["c", "h10", 8, "restart"],
    ["d", "h10", 1, ""],
    ["e", "pool", 1, "restart", "Halted"],
  ]),
);

function start(vm: string, to: string, order = 0): Action {
  const score = { hostAffinity: 0, groups: 0, headroom: 0.5 };
  return {
    kind: "start",
    vm,
    to,
    purpose: "restart",
    score,
    order,
    after: [],
  };
}

function planOf(more: Partial<FailoverPlan>): FailoverPlan {
  return {
    failed: ["h2"],
    survives: true,
    notRestarted: [],
    actions: [],
    unplaced: [],
    isProven: false,
    ...more,
  };
}

function survivalOf(more: Partial<Survival>): Survival {
  return { failures: 2, atMost: 2, isExact: true, steps: [], ...more };
}

t.test("hosts are sorted by name, with their state and VMs", async (t) => {
  t.same(
    fleet.hosts.map(({ name, state, vms }) => [name, state, vms]),
    [
      ["h2", "up", 2],
      ["h3", "disabled", 0],
      ["h4", "down", 0],
      ["h10", "up", 2],
    ],
  );
  t.same(fleet.counts, { restart: 2, "best-effort": 1, none: 1 });
  t.match(fleet.vm("a"), { name: "vm a", memory: 4 * GIB, host: "h2" });
  t.equal(fleet.vm("e")?.host, undefined, "it does not run");
  t.equal(fleet.vm("nobody"), undefined);
});

t.test("hosts are listed before VMs are known", async (t) => {
  const bare = fleetOf([host("h1")], undefined);
  t.equal(bare.hosts[0]?.vms, 0);
  t.same(bare.counts, { restart: 0, "best-effort": 0, none: 0 });
});

t.test("the address contains the failed hosts", async (t) => {
  t.same(readFailed("h2,h10,,h2"), ["h2", "h10"]);
  t.same(readFailed(["h2", "x"]), ["h2"]);
  t.same(readFailed(undefined), []);
  t.equal(writeFailed(["h2", "h10"]), "h2,h10");
  t.equal(writeFailed([]), undefined);
  t.same(toggled(["h2"], "h10"), ["h2", "h10"]);
  t.same(toggled(["h2", "h10"], "h2"), ["h10"]);
});

t.test("removed and halted hosts cannot fail", async (t) => {
  t.same(ableToFail(["h2", "h4", "gone", "h3"], fleet), ["h2", "h3"]);
});

t.test(
  "an additional failure: the worst host, else the one with most VMs to restart",
  async (t) => {
    const worst = { hosts: ["h3", "h2"], unplaced: [] };
    t.equal(nextToFail([], fleet, worst), "h3");
    t.equal(nextToFail(["h2"], fleet, worst), "h3");
    t.equal(nextToFail(["h2", "h3"], fleet, worst), "h10");
    t.equal(nextToFail([], fleet, undefined), "h10");
    t.equal(nextToFail(["h10"], fleet, undefined), "h2");
    t.equal(nextToFail(["h10", "h2", "h3"], fleet, undefined), undefined);
  },
);

t.test(
  "restarts are sorted by order, with the delay before the next",
  async (t) => {
    const { lines, restarts, arriving } = outcomeOf(
      planOf({ actions: [start("a", "h10", 1), start("b", "h10", 2)] }),
      fleet,
    );
    t.match(lines, [
      { kind: "order", order: 1, vms: 1, delay: 30 },
      { kind: "vm", name: "vm a", from: "h2", to: "h10", isBestEffort: false },
      { kind: "order", order: 2, vms: 1 },
      { kind: "vm", name: "vm b", isBestEffort: true },
    ]);
    t.equal(restarts, 2);
    t.same(arriving.get("h10"), { memory: 6 * GIB, vms: 2 });
  },
);

t.test(
  "migrations that make room come first, and leave the host",
  async (t) => {
    const move: Action = {
      ...start("c", "h3"),
      kind: "migrate",
      from: "h10",
      purpose: "make-room",
    };
    const { lines, restarts, arriving } = outcomeOf(
      planOf({ actions: [move, start("a", "h10")] }),
      fleet,
    );
    t.match(lines[0], { kind: "order", order: undefined, vms: 1, delay: 0 });
    t.equal(restarts, 1);
    t.same(arriving.get("h3"), { memory: 8 * GIB, vms: 1 });
    t.same(arriving.get("h10"), { memory: -4 * GIB, vms: 0 });
  },
);

t.test("of VMs that are not restarted, the protected ones first", async (t) => {
  const none = { refusals: [], fitsAlone: true };
  const { unplaced } = outcomeOf(
    planOf({ unplaced: ["b", "a"].map((vm) => ({ vm, ...none })) }),
    fleet,
  );
  t.match(unplaced, [
    { vm: "a", mustRestart: true },
    { vm: "b", mustRestart: false },
  ]);
});

t.test("a VM that is new since the plan has a name all the same", async (t) => {
  const { lines } = outcomeOf(
    planOf({ actions: [start("0123456789", "h10")] }),
    fleet,
  );
  t.match(lines[1], { name: "01234567", from: undefined });
});

t.test(
  "the result is a sentence that states whether it is exact",
  async (t) => {
    const of = (more: Partial<Survival>, vms = 10) =>
      survivalSentence(survivalOf(more), vms, english);
    t.same(of({}), {
      label: "This pool tolerates any 2 host failures (exact).",
      tone: "good",
    });
    t.equal(
      of({
        failures: 1,
        atMost: 3,
        isExact: false,
        steps: [{ failures: 2, holds: "unknown", by: "budget", sets: 9 }],
      }).label,
      "This pool tolerates at least any 1 host failure, and at most 3 (bound).",
    );
    t.match(of({ failures: 0, atMost: 3, isExact: false }), {
      label: /^It is not certain.*at most 3/,
      tone: "warn",
    });
    const holds = { failures: 3, atMost: 9, isExact: false };
    const steps = [
      { failures: 3, holds: "yes", by: "exhaustive", sets: 84 },
    ] as const;
    t.match(
      of({ ...holds, steps }).label,
      /at least any 3 host failures, more failures were/,
    );
    t.match(of({ failures: 0, atMost: 0 }), { tone: "bad" });
    t.match(of({}, 0), { label: /No running VM .* protected/, tone: "warn" });
    t.equal(
      survivalSentence(survivalOf({ failures: 1 }), 1, german).label,
      "Dieser Pool toleriert jeden Ausfall von 1 Host (exakt).",
    );
  },
);

t.test(
  "more than is survived is a warning where HA is set to it",
  async (t) => {
    const bound = { failures: 1, atMost: 3, isExact: false };
    const of = (tolerated: number, more: Partial<Survival>) =>
      toleranceWarning(tolerated, survivalOf(more), english);
    t.equal(of(2, {}), undefined);
    t.match(of(3, {}), /tolerate 3 host failures; it tolerates at most 2/);
    t.match(of(2, bound), /tolerate 2 host failures; 1 are certain/);
    t.match(of(4, bound), /it tolerates at most 3/);
  },
);

t.test("each number of failures has its method of decision", async (t) => {
  t.equal(
    stepText(
      { failures: 1, holds: "yes", by: "exhaustive", sets: 64 },
      english,
    ),
    "1 failure: tolerated (all 64 sets of hosts planned)",
  );
  t.equal(
    stepText(
      { failures: 3, holds: "no", by: "counterexample", sets: 9 },
      english,
    ),
    "3 failures: not tolerated (counterexample found)",
  );
});
