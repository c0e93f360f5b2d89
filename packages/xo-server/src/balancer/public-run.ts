import type { Catalog, Predicate, ViewObject } from "@xo-server/inventory";
import type { BalancerRun } from "@xo-server/store";
import { recordOf } from "./deprecated-names.js";
import type { MoveRecord, RunRecord } from "./run-record.js";

/** A run as clients get it. Times are ms since the epoch. */
export interface PublicRun extends RunRecord {
  readonly id: string;
  readonly pool: string;
  readonly status: BalancerRun["status"];
  readonly start: number;
  readonly end?: number;
  readonly taskId?: string;
  /** Number of migrations of VMs that the caller may not read. */
  readonly hidden: number;
}

/** Whether the caller may read a VM; undefined: all, deleted ones too. */
export type MaySee = ((vm: string) => boolean) | undefined;

export function toMaySee(
  catalog: Pick<Catalog, "get">,
  readable: Predicate | undefined,
): MaySee {
  if (readable === undefined) return undefined;
  return (vm) => {
    const entry = catalog.get(vm);
    return (
      entry !== undefined &&
      readable(JSON.parse(entry.json.toString()) as ViewObject)
    );
  };
}

export function toPublicRun(run: BalancerRun, maySee: MaySee): PublicRun {
  const { id, pool, status, startedAt, endedAt, taskId } = run;
  const record = recordOf(run);
  const isSeen = ({ vm }: MoveRecord) => maySee?.(vm) ?? true;
  const moves = record.moves.filter(isSeen);
  return {
    ...record,
    id,
    pool,
    status,
    start: startedAt,
    moves,
    ...(endedAt === undefined ? {} : { end: endedAt }),
    ...(taskId === undefined ? {} : { taskId }),
    hidden: record.moves.length - moves.length,
  };
}
