import type { JobKind } from "../jobs/job-kind.js";
import { hostsOfPool } from "../methods/pool/pool-hosts.js";
import type { Services } from "../methods/definition/services.js";
import { RollingKind } from "../rolling-jobs/rolling-kind.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { Core } from "./start-core.js";
import type { Updates } from "./start-updates.js";

/**
 * The job type of rolling updates of pools.
 * @returns name and type
 */
export function startRollingJobs({
  clock,
  objects,
  views,
  users,
  missingPatches,
  rollingRecords,
  wavePlanner,
}: Core &
  Updates &
  Pick<Services, "rollingRecords" | "wavePlanner"> & {
    readonly users: AuthenticatedUsers;
  }): readonly [string, JobKind] {
  const kind = new RollingKind({
    clock,
    objects,
    users,
    records: rollingRecords,
    planner: wavePlanner,
    patches: missingPatches,
    hostsOf: (pool) => hostsOfPool(views.queries, pool),
  });
  return ["rollingUpdate", kind];
}
