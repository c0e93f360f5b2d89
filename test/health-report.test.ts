import t from "tap";
import { systemClock, type SimulatorClock } from "@xo-server/xapi-sim";
import { startControlled, type ControlledPools } from "./controlled-pools.js";
import { addProblems } from "./health-problems.js";

// Real pools on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Check {
  readonly name: string;
  readonly type: string;
  readonly total: number;
  readonly filter?: string;
  readonly items: readonly {
    readonly id: string;
    readonly name?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  }[];
}

const SIZE = { hosts: 2, vms: 6 };

/** Waits until the mirror has the last change of the pool. */
async function untilNamed(
  { api }: ControlledPools,
  type: string,
  name: string,
) {
  const filter = `name_label:/^${name}$/`;
  while ((await api.request("query.count", { type, filter })) === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

async function read({ api }: ControlledPools, params: object = {}) {
  const report = (await api.request("health.getReport", params)) as {
    readonly time: number;
    readonly checks: readonly Check[];
  };
  return new Map(report.checks.map((check) => [check.name, check]));
}

const idsOf = (check: Check | undefined) => check?.items.map(({ id }) => id);

t.test("a report lists the problems of pools", LIMIT, async (t) => {
  const controlled = await startControlled(t, SIZE);
  const created = addProblems(controlled);
  await untilNamed(controlled, "host", "last change");
  const checks = await read(controlled);

  t.ok(idsOf(checks.get("orphanDisks"))!.includes(created.orphan));
  t.notOk(idsOf(checks.get("orphanDisks"))!.includes(created.attached));
  t.same(idsOf(checks.get("orphanDiskSnapshots")), [created.orphanSnapshot]);
  t.same(idsOf(checks.get("missingDisks")), [created.missing]);
  t.match(checks.get("longChains"), {
    total: 1,
    items: [{ id: created.long, name: "no VM", details: { length: 17 } }],
  });
  t.same(idsOf(checks.get("controlDomainDisks")), [created.attached]);
  const macs = checks.get("duplicateMacs")!;
  t.same(new Set(idsOf(macs)), new Set(created.vms));
  t.match(macs.items[0]!.details, { mac: "02:00:00:00:00:01" });
  t.ok(idsOf(checks.get("detachedStorage"))!.includes(created.sr));
  t.same(idsOf(checks.get("hostVersions")), [created.pool]);
  t.match(checks.get("vmRestartRequired"), {
    total: 1,
    items: [
      {
        id: created.vms[0],
        details: { guidances: ["restart_device_model"] },
      },
    ],
  });
  t.same(idsOf(checks.get("toolstackRestartRequired")), [created.host]);
  t.match(checks.get("clockOffsets"), { total: 0 });
  t.notOk("unknown" in checks.get("clockOffsets")!);

  t.test("the filter of a check selects its objects in lists", async (t) => {
    for (const { name, type, filter, total } of checks.values()) {
      if (filter === undefined) continue;
      const count = await controlled.api.request("query.count", {
        type,
        filter,
      });
      t.equal(count, total, name);
    }
  });

  t.test("REST", async (t) => {
    const answer = await controlled.api.rest("GET", "/health-report");
    t.equal(answer.status, 200);
    t.match(await answer.json(), { checks: [{ name: "fullStorage" }] });
  });

  t.test("of one pool", async (t) => {
    const own = await read(controlled, { pool: created.pool });
    t.same(idsOf(own.get("orphanDisks")), idsOf(checks.get("orphanDisks")));
    const none = await read(controlled, {
      pool: "00000000-0000-4000-8000-000000000000",
    });
    for (const { total } of none.values()) t.equal(total, 0);
  });
});

t.test("clocks of hosts are compared", LIMIT, async (t) => {
  const clock: SimulatorClock = {
    ...systemClock,
    now: () => Date.now() + 60_000,
  };
  const controlled = await startControlled(t, { ...SIZE, clock });
  t.match((await read(controlled)).get("clockOffsets"), {
    total: 2,
    items: [{ details: { offset: 60 } }, { details: { offset: 60 } }],
  });
});
