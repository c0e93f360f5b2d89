import type { TaskContext } from "../tasks/task-context.js";
import type { RestartParts } from "../hosts/restart.js";
import type { MissingPatches } from "../updates/missing-patches.js";
import type { RollingRecords } from "./rolling-records.js";
import type { WavePlanner } from "./wave-planner.js";

/** Services and options of a rolling reboot or update. */
export interface RollingParts extends RestartParts {
  readonly work: TaskContext;
  readonly records: RollingRecords;
  /** Absent: XAPI chooses the target hosts. */
  readonly planner?: WavePlanner | undefined;
  /** Required for updates. */
  readonly patches?: MissingPatches | undefined;
  /** Called when nothing prevents the run, before anything is done. */
  readonly onBegin?: (() => Promise<void>) | undefined;
}
