import t from "tap";
import { startFast, until, type FastPool } from "./fast-pools.js";
import {
  checkOutcome,
  uuidOf,
  type Outcome,
  type Plan,
} from "./plan-outcome.js";
import { complicate, overload, randomOptions } from "./random-pool.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

const SEEDS = [1, 2, 3, 4];
const FACTOR = 20;

interface Figures {
  readonly host: string;
  readonly cpu: number;
  readonly memory: number;
  readonly vms: number;
}

interface Recommendation extends Plan {
  readonly figuresBefore: readonly Figures[];
  readonly figuresAfter: readonly Figures[];
  readonly stopped: string;
}

const worst = (figures: readonly Figures[]) =>
  Math.max(...figures.map(({ cpu }) => cpu));

for (const seed of SEEDS)
  t.test(
    `seed ${seed}: a host with too much to do is relieved as recommended`,
    LIMIT,
    async (t) => {
      let busy = "";
      const { api, pools } = await startFast(
        t,
        {
          factor: FACTOR,
          prepare: (sim) => {
            complicate(sim, seed);
            busy = overload(sim, seed);
          },
        },
        { ...randomOptions(seed), hosts: 4, vms: 60 },
      );
      const [pool] = pools as [FastPool];
      const memory = pool.guard.memory();
      const host = uuidOf(pool, "host", busy);
      const params = { pool: pool.id, goal: "performance" };
      const recommend = async () =>
        (await api.request("placement.recommend", params)) as Recommendation;
      const cpuOf = ({ figuresBefore }: Recommendation, id: string) =>
        figuresBefore.find((one) => one.host === id)!.cpu;
      const plan = await until(
        recommend,
        (one) => cpuOf(one, host) > 0.9 && one.figuresBefore.every(isMeasured),
        "what is recommended",
      );
      t.comment(
        `${plan.actions.length} moves, ${worst(plan.figuresBefore).toFixed(2)} to ${worst(plan.figuresAfter).toFixed(2)}, ${plan.stopped}`,
      );
      t.ok(plan.actions.length > 0, "there is something to do");
      t.ok(worst(plan.figuresAfter) < worst(plan.figuresBefore));
      const input = { pool: pool.id, actions: plan.actions };
      const outcome = (await api.request("placement.apply", input)) as Outcome;
      checkOutcome(t, pool, plan, outcome);
      t.same(pool.guard.memory(), memory);
      await until(
        recommend,
        (now) =>
          plan.figuresAfter.every(
            ({ host, cpu }) => Math.abs(cpuOf(now, host) - cpu) < 0.1,
          ),
        `what is measured, where ${JSON.stringify(plan.figuresAfter)} was planned`,
      );
    },
  );

function isMeasured({ cpu, vms }: Figures): boolean {
  return cpu > 0 || vms === 0;
}
