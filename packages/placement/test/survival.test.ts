import t from "tap";
import {
  indexPool,
  planFailover,
  survivedFailures,
  type PoolModel,
} from "@xo-server/placement";
import { bestEffort, ha, up } from "./protected.js";
import {
  failuresSurvived,
  medium,
  randomPool,
  seeds,
  setsOf,
  survives,
} from "./reference/index.js";

const SEEDS = 400;

/** Hosts of 10 GiB, each with VMs of these sizes. */
function pool(...hosts: readonly (readonly number[])[]): PoolModel {
  return {
    hosts: hosts.map((_, i) => up(`h${i}`, 10)),
    vms: hosts.flatMap((sizes, i) =>
      sizes.map((gib, j) => ha(`v${i}-${j}`, gib, `h${i}`)),
    ),
  };
}

t.test("one host failure is survived, two are not", async (t) => {
  const survival = survivedFailures(indexPool(pool([4], [4], [4])));
  t.equal(survival.failures, 1);
  t.equal(survival.atMost, 1);
  t.equal(survival.isExact, true);
  t.equal(survival.worst?.hosts.length, 2);
  t.equal(survival.worst?.unplaced.length, 1);
  t.equal(survival.worst?.conflict?.size, "smallest");
  t.same(
    survival.steps.map(({ failures, holds }) => [failures, holds]),
    [
      [1, "yes"],
      [2, "no"],
    ],
  );
});

t.test("fragmented free memory does not count", async (t) => {
  const survival = survivedFailures(indexPool(pool([6], [6], [6], [6])));
  t.equal(survival.failures, 0);
  t.equal(survival.worst?.hosts.length, 1);
});

t.test("without VMs that must restart all hosts may fail", async (t) => {
  const survival = survivedFailures(
    indexPool({
      hosts: [up("a", 4), up("b", 4)],
      vms: [ha("v", 4, "a", bestEffort)],
    }),
  );
  t.equal(survival.failures, 2);
  t.equal(survival.isExact, true);
  t.equal(survival.worst, undefined);
});

t.test("hosts that are down are not counted, disabled ones are", async (t) => {
  const model = pool([4], [4], [4]);
  const [first, ...others] = model.hosts;
  const state = (state: "down" | "disabled") =>
    survivedFailures(
      indexPool({ ...model, hosts: [{ ...first!, state }, ...others] }),
    );
  t.equal(state("down").failures, 1, "one of the two that are up");
  t.equal(state("disabled").failures, 1, "its VMs restart, it takes none");
  t.equal(state("disabled").worst?.hosts.length, 2);
});

t.test("no more failures are examined than requested", async (t) => {
  const survival = survivedFailures(indexPool(pool([1], [1], [1])), {
    maxFailures: 1,
  });
  t.equal(survival.failures, 1);
  t.equal(survival.atMost, 3);
  t.equal(survival.isExact, false);
});

t.test("anti-affinity groups need hosts, not only memory", async (t) => {
  const model = pool([1], [1], [1], []);
  const vms = model.vms.map(({ id }) => id);
  const groups = [
    { id: "g", kind: "anti-affinity", required: true, vms },
  ] as const;
  const survival = survivedFailures(indexPool({ ...model, groups }));
  t.equal(survival.failures, 1);
  t.same(survival.worst?.conflict?.rules.map(({ rule }) => rule).sort(), [
    "group",
    "state",
  ]);
});

t.test("a hundred equal hosts need one failure set per number", async (t) => {
  const hosts = Array.from({ length: 100 }, () => [3, 3, 3]);
  const survival = survivedFailures(indexPool(pool(...hosts)), {
    maxFailures: 2,
  });
  t.equal(survival.failures, 0);
  t.equal(survival.isExact, true);
  t.ok(survival.steps.every(({ sets }) => sets <= 3));
});

t.test("random pools: as many as an exact search finds", async (t) => {
  const wrong: string[] = [];
  for (const seed of seeds(SEEDS)) {
    const model = randomPool(seed);
    const survival = survivedFailures(indexPool(model));
    const { failures, atMost, isExact, worst } = survival;
    const exact = failuresSurvived(model);
    if (failures !== exact || atMost !== exact || !isExact)
      wrong.push(`seed ${seed}: ${failures}, ${atMost}, not ${exact}`);
    if (worst && survives(model, worst.hosts))
      wrong.push(`seed ${seed}: ${worst.hosts.join()} may die`);
  }
  t.same(wrong, []);
});

t.test("random pools: the same with limits", async (t) => {
  const wrong: string[] = [];
  const all = [{ vcpusPerCore: 0.7 }, { memoryReserve: 0.2 }];
  for (const seed of seeds(SEEDS / 4)) {
    const limits = all[seed % all.length]!;
    const model = randomPool(seed);
    const { failures, isExact } = survivedFailures(indexPool(model), {
      limits,
    });
    if (failures !== failuresSurvived(model, limits) || !isExact)
      wrong.push(`seed ${seed}`);
  }
  t.same(wrong, []);
});

t.test(
  "random pools: proven results hold for each pair of hosts",
  async (t) => {
    const wrong: string[] = [];
    const shape = { ...medium, hosts: [8, 14] as const };
    for (const seed of seeds(12)) {
      const model = randomPool(seed, shape);
      const pool = indexPool(model);
      const { failures, atMost, worst } = survivedFailures(pool, {
        maxFailures: 3,
      });
      const alive = model.hosts.filter(({ state }) => state !== "down");
      const ids = alive.map(({ id }) => id);
      for (let size = 1; size <= Math.min(2, failures); size++)
        for (const failed of setsOf(ids, size))
          if (!planFailover(pool, failed, { explains: false }).survives)
            wrong.push(`seed ${seed}: ${failed.join()} of ${failures}`);
      const plan = worst && planFailover(pool, worst.hosts);
      if (plan && (plan.survives || !plan.isProven))
        wrong.push(`seed ${seed}: ${worst.hosts.join()}`);
      if (worst && worst.hosts.length !== atMost + 1)
        wrong.push(`seed ${seed}: at most ${atMost}`);
    }
    t.same(wrong, []);
  },
);
