import { indexPool, planEvacuation } from "@xo-server/placement";
import { readJob, reportFigures } from "../../measure/job.js";
import type { EvacuationJob } from "../placement-job.js";
import { crowdedPool } from "../problems.js";
import { timed } from "../timed.js";

// A host with very many VMs is to be empty.
const { vms, others } = await readJob<EvacuationJob>();
const model = crowdedPool(vms, others);
const index = timed(() => indexPool(model));
const {
  value: plan,
  ms,
  cpuMs,
} = timed(() => planEvacuation(index.value, ["full"]));
reportFigures({
  ms,
  cpuMs,
  indexMs: index.ms,
  hosts: model.hosts.length,
  vms: model.vms.length,
  actions: plan.actions.length,
  unplaced: plan.unplaced.length,
});
