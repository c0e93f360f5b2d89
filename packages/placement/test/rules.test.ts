import t from "tap";
import {
  agilityOf,
  indexPool,
  placeVm,
  type Candidate,
  type Limits,
  type PoolModel,
  type Score,
} from "@xo-server/placement";
import {
  expectedOf,
  randomPool,
  seeds,
  small,
  Standing,
  withNothingRunning,
} from "./reference/index.js";

const SEEDS = 150;

/**
 * All candidates of all VMs of many pools, with the result of the reference.
 */
function* candidates(limits: Limits): Generator<Seen> {
  for (const seed of seeds(SEEDS)) {
    const model = randomPool(seed, { ...small, violationsOf: seed % 2 === 0 });
    const pool = indexPool(model);
    for (const { id } of model.vms) {
      const placement = placeVm(pool, id, { limits });
      const standing = withoutCounting(model, id, limits);
      for (const candidate of placement.candidates)
        yield { seed, vm: id, candidate, standing };
    }
  }
}

interface Seen {
  readonly seed: number;
  readonly vm: string;
  readonly candidate: Candidate;
  readonly standing: Standing;
}

/** The VM takes nothing from its host, but still runs there. */
function withoutCounting(
  model: PoolModel,
  vm: string,
  limits: Limits,
): Standing {
  const standing = new Standing(model, limits);
  const home = standing.homes.get(vm);
  if (home !== undefined) standing.uncount(vm, home);
  return standing;
}

for (const limits of [{}, { memoryReserve: 0.1, vcpusPerCore: 1 }])
  t.test(
    `refusals are correct and complete (limits ${JSON.stringify(limits)})`,
    async (t) => {
      const wrong: string[] = [];
      let refused = 0;
      for (const { seed, vm, candidate, standing } of candidates(limits)) {
        const { host, refusals } = candidate;
        const refusedBy = [...new Set(refusals.map(({ rule }) => rule))].sort();
        const should = [...standing.refusals(vm, host)].sort();
        refused += Math.min(1, should.length);
        if (refusedBy.join() !== should.join())
          wrong.push(
            `seed ${seed}: ${vm} on ${host}: ${refusedBy.join()}, not ${should.join()}`,
          );
      }
      t.same(wrong.slice(0, 3), []);
      t.ok(refused > expectedOf(1_000), `${refused} refusals were checked`);
    },
  );

t.test(
  "each score is the sum of host affinities, groups and headroom",
  async (t) => {
    const wrong: string[] = [];
    const isClose = (a: Score, b: Score) =>
      a.hostAffinity === b.hostAffinity &&
      a.groups === b.groups &&
      Math.abs(a.headroom - b.headroom) < 1e-9;
    for (const { seed, vm, candidate, standing } of candidates({})) {
      const { host, score } = candidate;
      if (score === undefined) continue;
      const should = standing.score(vm, host);
      if (!isClose(score, should))
        wrong.push(
          `seed ${seed}: ${vm} on ${host}: ${JSON.stringify([score, should])}`,
        );
    }
    t.same(wrong.slice(0, 3), []);
  },
);

t.test("the best candidate is first, refusing ones are last", async (t) => {
  for (const seed of seeds(SEEDS)) {
    const model = randomPool(seed);
    for (const { id } of model.vms) {
      const { host, candidates } = placeVm(indexPool(model), id);
      const keys = candidates.map(({ score }) =>
        score === undefined
          ? [-Infinity, 0]
          : [score.hostAffinity + score.groups, score.headroom],
      );
      const sorted = keys.toSorted((a, b) => b[0]! - a[0]! || b[1]! - a[1]!);
      if (JSON.stringify(keys) !== JSON.stringify(sorted))
        return t.fail(`seed ${seed}: ${id}: ${JSON.stringify(keys)}`);
      const best =
        candidates[0]?.score === undefined ? undefined : candidates[0].host;
      if (host !== best)
        return t.fail(`seed ${seed}: ${id}: ${host}, not ${best}`);
    }
  }
  t.pass();
});

t.test(
  "a VM is agile when all hosts could run it if they were empty",
  async (t) => {
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed);
      const empty: PoolModel = {
        hosts: model.hosts.map((host) => ({ ...host, state: "up" })),
        vms: withNothingRunning(model).vms,
        hostAffinities: model.hostAffinities ?? [],
      };
      const standing = new Standing(empty);
      for (const { id } of model.vms) {
        const { hosts, agile, reasons: why } = agilityOf(indexPool(model), id);
        const should = model.hosts
          .map((host) => host.id)
          .filter((host) => standing.refusals(id, host).size === 0)
          .sort();
        if (hosts.toSorted().join() !== should.join())
          return t.fail(
            `seed ${seed}: ${id}: ${hosts.join()}, not ${should.join()}`,
          );
        if (
          agile !== (should.length === model.hosts.length) ||
          agile !== (why.length === 0)
        )
          return t.fail(
            `seed ${seed}: ${id}: agile ${agile}, ${why.length} reasons`,
          );
      }
    }
    t.pass();
  },
);
