import {
  indexPool,
  updatePlan,
  planFailover,
  planStarts,
  type Plan,
  type PoolModel,
} from "@xo-server/placement";
import { readJob, reportFigures } from "../../measure/job.js";
import { scenarioPool, type PlacementScenario } from "../problems.js";
import { timed } from "../timed.js";

// The scenario: everything placed at once, then one host fails, then each of
// them.
const model = scenarioPool(await readJob<PlacementScenario>());
const host = model.hosts[model.hosts.length >> 1]!.id;
const index = timed(() => indexPool(model));
const plan = timed(() => planStarts(index.value));
const planned = plan.value;
const repair = timed(() => updatePlan(planned, { kind: "host-down", host }));
const repaired = repair.value.plan;
const running = indexPool(afterStarts(model, planned.plan));
const failover = timed(() => planFailover(running, [host]));
const all = timed(() =>
  model.hosts.map(({ id }) => planFailover(running, [id])),
);
reportFigures({
  ms: index.ms + plan.ms,
  cpuMs: index.cpuMs + plan.cpuMs,
  indexMs: index.ms,
  planMs: plan.ms,
  placed: planned.plan.actions.length,
  repairMs: repair.ms,
  repairCpuMs: repair.cpuMs,
  restarts: repaired.actions.filter(({ purpose }) => purpose !== "start")
    .length,
  moved: changedHosts(planned.plan, repaired),
  unplacedVms: repaired.unplaced.length,
  failoverMs: failover.ms,
  failoverCpuMs: failover.cpuMs,
  failoverRestarts: failover.value.actions.length,
  allMs: all.ms,
  allCpuMs: all.cpuMs,
  survived: all.value.filter(({ survives }) => survives).length,
});

function afterStarts(before: PoolModel, { actions }: Plan): PoolModel {
  const hosts = new Map(actions.map(({ vm, to }) => [vm, to]));
  const vms = before.vms.map((vm) => {
    const found = hosts.get(vm.id);
    return found === undefined ? vm : { ...vm, host: found };
  });
  return { ...before, vms };
}

/** VMs that the second plan has somewhere else than the first. */
function changedHosts(before: Plan, after: Plan): number {
  const hosts = new Map(before.actions.map(({ vm, to }) => [vm, to]));
  return after.actions.filter(({ vm, to }) => hosts.get(vm) !== to).length;
}
