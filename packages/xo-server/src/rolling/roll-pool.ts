import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { MissingPatch } from "../updates/missing-patch.js";
import { eachOf } from "../hosts/guests.js";
import type { Windows } from "../schedules/window-shape.js";
import {
  makeRecord,
  type RollingOptions,
  type RollingRecord,
  type Turn,
} from "./rolling-record.js";
import type { RollingParts } from "./rolling-parts.js";
import { RollingRun } from "./rolling-run.js";

export interface RollingCall {
  readonly kind: "reboot" | "update";
  /** The following four options default to those of the run that is resumed. */
  readonly shutdownPinnedVms?: boolean | undefined;
  readonly migrateBack?: boolean | undefined;
  readonly parallel?: number | undefined;
  readonly windows?: Windows | undefined;
  /**
   * true: resumes the last run, even if its server has crashed. false: starts a new
   * one. Absent: resumes the last run if it stopped.
   */
  readonly resume?: boolean | undefined;
}

/** Default of `parallel`: a quarter of the hosts. */
const SHARE = 4;
const MAX_PARALLEL = 16;

/** A quarter of the hosts of the pool, at most 16. */
export function defaultParallel(hosts: number): number {
  return Math.min(MAX_PARALLEL, Math.ceil(hosts / SHARE));
}

/**
 * Rolling reboot or update: evacuates, updates and reboots the hosts of a pool, the
 * coordinator first, and several hosts at a time where it is proven that all VMs
 * keep running. Stops at the first failure; the next call resumes it. Outside of
 * its maintenance windows it is suspended.
 * @throws XoError INCORRECT_STATE, VMS_CANNOT_LEAVE: nothing was done;
 * INVALID_PARAMETERS: no maintenance window is long enough; STOPPED_MIDWAY: with
 * the host and the step
 */
export function rollPool(
  pool: PoolObject,
  hosts: () => Promise<readonly PoolObject[]>,
  parts: RollingParts,
  call: RollingCall,
): Promise<void> {
  const { records, work } = parts;
  return records.alone(
    pool.id,
    async () => {
      if (records.isComplete(pool.id, work.wholeTaskId)) return;
      const record = await begin(pool, hosts, parts, call);
      await new RollingRun(record, parts).run();
    },
    work.lease,
  );
}

async function begin(
  pool: PoolObject,
  hosts: () => Promise<readonly PoolObject[]>,
  parts: RollingParts,
  { resume, kind, ...options }: RollingCall,
): Promise<RollingRecord> {
  const takeOver = resume === true;
  const left = parts.records.left(pool.id, { takeOver });
  if (!takeOver) await parts.records.clearSuspended(pool.id);
  if (left !== undefined && resume !== false) {
    checkKind(left, kind, pool);
    const { stopped, ...going } = left;
    const since = new Date(left.since).toISOString();
    parts.work.info(`resumes the rolling ${kind} of ${since}`, { stopped });
    return { ...going, ...defined(options) };
  }
  const since = parts.clock.now();
  const all = await hosts();
  const requested: RollingOptions = {
    kind,
    shutdownPinnedVms: options.shutdownPinnedVms === true,
    migrateBack: options.migrateBack ?? kind === "reboot",
    parallel: options.parallel ?? defaultParallel(all.length),
    ...(options.windows && { windows: options.windows }),
  };
  const created = makeRecord(pool, all, requested, parts.objects);
  const turns =
    kind === "update"
      ? await turnsWithUpdates(created.turns, parts, pool)
      : created.turns;
  return { ...created, turns, since, suspended: left?.suspended ?? {} };
}

/** @throws XoError INCORRECT_STATE: the run to resume is of the other kind */
function checkKind(
  { kind = "reboot" }: RollingRecord,
  requested: string,
  { id }: PoolObject,
): void {
  if (kind === requested) return;
  throw new XoError("INCORRECT_STATE", {
    object: id,
    property: `rolling ${kind}`,
    actual: "stopped before its end",
    expected: `none; resume it, or start the rolling ${requested} with resume: false`,
  });
}

function defined(options: object): Partial<RollingOptions> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
}

/**
 * Hosts without missing updates have no turn.
 * @throws XoError INCORRECT_STATE: the pool refuses updates
 */
async function turnsWithUpdates(
  turns: readonly Turn[],
  { objects, patches }: RollingParts,
  pool: PoolObject,
): Promise<Turn[]> {
  const [first] = turns;
  if (first === undefined) return [];
  const host = objects.get(first.host, "host");
  const refusals = await patches!.refusals(host);
  if (refusals.length > 0)
    throw new XoError("INCORRECT_STATE", {
      object: pool.id,
      property: "readiness for updates",
      actual: refusals.map((reason) => reason.join(" ")).join("; "),
      expected: "ready",
    });
  const missing = new Map<string, readonly MissingPatch[]>();
  await eachOf(turns, async ({ host }) => {
    missing.set(host, await patches!.again(objects.get(host, "host")));
  });
  return turns.flatMap((turn) => {
    const updates = missing.get(turn.host)!;
    if (updates.length === 0) return [];
    const xapi = updates.find(({ name }) => name === "xapi-core");
    const ids = updates.map(({ id }) => id);
    return [
      { ...turn, updates: ids, ...(xapi && { xapiBuild: xapi.version }) },
    ];
  });
}
