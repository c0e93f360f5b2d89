import type { Database } from "../database.js";
import type { PoolData, Run } from "../pool-state.js";
import { refIn, text } from "../records/fields.js";
import type { XapiRecord } from "../xapi-value.js";

/** Maximum number of entries per VM. */
const MAX_RUNS = 16;
/** How long a halted VM ran that has been so from the start of the simulation. */
const LAST_RUN_SECONDS = 6 * 3600;

/** Notes that the VM's present run ends now. @param now Unix seconds */
export function endRun(
  { db, state }: PoolData,
  vm: XapiRecord,
  now: number,
): void {
  const from = startOf(db, vm);
  if (from === undefined || from >= now) return;
  const { runs } = state;
  const before = runs.get(text(vm, "uuid")) ?? [];
  const all = [...before, { from, to: now }].slice(-MAX_RUNS);
  runs.set(text(vm, "uuid"), all);
}

/** All runs that are known, the oldest first; the present one has no end. */
export function runsOf(
  { db, state: { runs } }: PoolData,
  vm: XapiRecord,
): readonly Run[] {
  const past = runs.get(text(vm, "uuid")) ?? [];
  const from = startOf(db, vm);
  const state = text(vm, "power_state");
  if (state === "Running" || state === "Paused")
    return [...past, { from: from ?? -Infinity, to: Infinity }];
  if (past.length > 0 || from === undefined) return past;
  return [{ from, to: from + LAST_RUN_SECONDS }];
}

/** Unix seconds; undefined where the VM has never been started. */
export function startOf(db: Database, vm: XapiRecord): number | undefined {
  const ref = refIn(vm, "metrics");
  const metrics = ref === undefined ? undefined : db.find("VM_metrics", ref);
  if (metrics === undefined) return undefined;
  const time = text(metrics, "start_time");
  const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T/, "$1-$2-$3T");
  return Date.parse(iso) / 1000 || undefined;
}
