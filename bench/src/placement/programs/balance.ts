import { indexPool, planBalance } from "@xo-server/placement";
import { readJob, reportFigures } from "../../measure/job.js";
import type { BalanceJob } from "../placement-job.js";
import { unevenPool } from "../problems.js";
import { timed } from "../timed.js";

// A pool with some overloaded hosts: which VMs are migrated.
const { hosts, vms, goal, maxMigrationsPerRun } = await readJob<BalanceJob>();
const index = timed(() => indexPool(unevenPool(hosts, vms)));
const {
  value: plan,
  ms,
  cpuMs,
} = timed(() =>
  planBalance(index.value, {
    goal,
    maxMigrations: maxMigrationsPerRun,
    cpuHigh: 0.85,
    cpuLow: 0.65,
    memoryHigh: 0.9,
    migrationCost: 0.0001,
    enforceRules: true,
  }),
);
const above = (list: typeof plan.figuresAfter) =>
  list.filter(({ cpu = 0 }) => cpu > 0.85).length;
reportFigures({
  ms,
  cpuMs,
  indexMs: index.ms,
  hosts,
  vms,
  actions: plan.actions.length,
  emptied: plan.emptied.length,
  aboveBefore: above(plan.figuresBefore),
  aboveAfter: above(plan.figuresAfter),
});
