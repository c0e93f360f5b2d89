import t from "tap";
import { actionsOf, SimulatedServer, World } from "./simulated-cluster.js";

/** `XO_CLUSTER_HISTORIES=100000` for a long run; `XO_CLUSTER_SEED` is the first. */
const HISTORIES = Number(process.env["XO_CLUSTER_HISTORIES"] ?? 1_000);
const FIRST = Number(process.env["XO_CLUSTER_SEED"] ?? 1);
/** Histories in which an action was carried out twice or never, before that was repaired. */
const REPAIRED = [
  11_462, 11_567, 11_759, 12_895, 13_928, 400_019, 502_988, 503_478, 505_799,
];
const NAMES = ["one", "two", "three"];
/** Faults happen until then, in ms; afterwards everything works. */
const FAULTS_MS = 25_000;
const END_MS = 600_000;
const CUTS = ["requests", "answers", "both"] as const;
const MAX_WALL_STEP_MS = 3_600_000;
/** 100 ms ahead of the clock of before, at most: servers count on the rest of the silent part of a lease. */
const MAX_STANDBY_AHEAD_MS = 1_100;

/** Random faults: each history is the same for the same seed. */
async function simulate(seed: number): Promise<World> {
  const world = new World(seed);
  const servers = new Map<string, SimulatedServer>();
  let starts = 0;
  const start = (name: string) => {
    const last = servers.get(name);
    if (last?.mayBeReplaced === false) return;
    if (last?.isDead === true)
      world.leases.inherit({ owner: name }, last.instance);
    const instance = `${name} ${++starts}`;
    servers.set(name, new SimulatedServer(world, name, instance, NAMES));
  };
  const faults: ((name: string) => void)[] = [
    (name) => {
      servers.get(name)!.kill();
      world.in(1_000 + world.below(12_000), () => start(name));
    },
    (name) => {
      // The old process continues beside the new one, which waits for it as long as a lease.
      servers.get(name)!.freeze(10_000 + world.below(15_000));
      world.in(6_000 + world.below(10_000), () => start(name));
    },
    (name) => void servers.get(name)!.freeze(world.below(15_000)),
    (name) => void servers.get(name)!.suspend(world.below(15_000)),
    (name) => {
      const direction = CUTS[world.below(CUTS.length)]!;
      servers.get(name)!.cut(world.below(15_000), direction);
    },
    (name) => {
      const step = (world.random() * 2 - 1) * MAX_WALL_STEP_MS;
      servers.get(name)!.setWallClock(step);
    },
    () => {
      world.databaseOffset -= world.below(10_000);
    },
    () => {
      // A standby takes over that has all that was committed.
      world.isDatabaseDown = true;
      world.in(world.below(8_000), () => {
        world.databaseOffset += world.below(MAX_STANDBY_AHEAD_MS) - 1_000;
        world.isDatabaseDown = false;
      });
    },
    (name) => {
      void servers.get(name)!.leave();
      world.in(world.below(12_000), () => start(name));
    },
    () => {
      world.isDatabaseDown = true;
      world.in(world.below(8_000), () => {
        world.isDatabaseDown = false;
      });
    },
  ];
  for (const name of NAMES) world.in(world.below(3_000), () => start(name));
  for (let at = 3_000; at < FAULTS_MS; at += 500 + world.below(6_000)) {
    const fault = faults[world.below(faults.length)]!;
    const name = NAMES[world.below(NAMES.length)]!;
    world.in(at, () => {
      if (servers.has(name)) fault(name);
    });
  }
  // All servers run in the end.
  for (const name of NAMES) world.in(FAULTS_MS + 20_000, () => start(name));
  await world.runUntil(END_MS, () => world.isComplete);
  return world;
}

function problemsOf(world: World): string[] {
  const problems: string[] = [];
  const requested = ["a", "b"].flatMap(actionsOf).toSorted();
  if (world.done.toSorted().join() !== requested.join())
    problems.push(`actions: ${world.done.join()}`);
  for (const step of world.acknowledged)
    if (!world.steps.has(step)) problems.push(`lost: ${step}`);
  for (const [subject, epochs] of world.epochs)
    if (epochs.some((epoch, i) => epoch < (epochs[i - 1] ?? 0)))
      problems.push(`two owners of ${subject}: ${epochs.join()}`);
  return problems;
}

t.test(
  "whatever fails, each action is carried out once, by one owner at a time",
  async (t) => {
    const failed: string[] = [];
    const seeds = Array.from({ length: HISTORIES }, (_, i) => FIRST + i);
    for (const seed of [...seeds, ...REPAIRED]) {
      const problems = problemsOf(await simulate(seed));
      if (problems.length > 0)
        failed.push(`XO_CLUSTER_SEED=${seed}: ${problems.join("; ")}`);
    }
    t.same(failed.slice(0, 5), [], `${HISTORIES} histories`);
  },
);
