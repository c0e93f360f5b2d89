import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { inParallel } from "../../jobs/in-parallel.js";
import type { KindRun } from "../../jobs/job-kind.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import { statusOfRun } from "../../jobs/run-status.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { toLoggedError } from "../report/backup-log.js";
import {
  toItemRunBody,
  type ItemLogEntry,
  type ItemRunBody,
} from "../report/item-log.js";
import { Deletions } from "./deletions.js";

/** An item of a run, which processes one after the other. */
export type RunItem = Pick<ItemLogEntry, "type" | "id" | "name">;

/** The result for an item, which has failed if there is an error. */
export type ItemResult = Pick<
  ItemLogEntry,
  "repositories" | "warnings" | "error" | "reason"
>;

interface ItemRunOptions<T extends RunItem> {
  readonly clock: Pick<WallClock, "now">;
  readonly concurrency: number;
  readonly isStopping: () => boolean;
  /** @throws XoError which makes the run fail */
  readonly listItems: () => Promise<readonly T[]> | readonly T[];
  /** @throws XoError which makes the item fail */
  readonly process: (
    item: T,
    work: TaskContext,
    deletions: Deletions,
  ) => Promise<ItemResult>;
}

const STEP = "item:";

/**
 * Processes the items of a run, and persists each result, so that a run that
 * continues after a restart of the server skips completed items. Never rejects:
 * errors are part of the outcome.
 */
export async function runItems<T extends RunItem>(
  run: KindRun,
  options: ItemRunOptions<T>,
): Promise<RunOutcome & { readonly body: ItemRunBody }> {
  const end = (body: ItemRunBody) => ({
    status: statusOfRun(run.work, options.isStopping(), body),
    body,
  });
  const entries = entriesBefore(run);
  try {
    const items = await options.listItems();
    const done = new Set(entries.map(keyOf));
    reportCounts(run.work, entries, items.length);
    const notBegun = await inParallel(
      items.filter((item) => !done.has(keyOf(item))),
      {
        concurrency: options.concurrency,
        isOver: () => run.work.signal.aborted || options.isStopping(),
      },
      async (item) => {
        const entry = await runItem(run, item, options);
        entries.push(entry);
        await run.work.persistStep(`${STEP}${keyOf(item)}`, entry);
        reportCounts(run.work, entries, items.length);
      },
    );
    sortAs(items, entries);
    return end(toItemRunBody(entries, notBegun === 0 ? {} : { notBegun }));
  } catch (error) {
    return end(toItemRunBody(entries, { error: toLoggedError(error) }));
  }
}

async function runItem<T extends RunItem>(
  run: KindRun,
  item: T,
  { clock, process }: ItemRunOptions<T>,
): Promise<ItemLogEntry> {
  const { work } = run;
  const deletions = new Deletions(run, keyOf(item));
  const { type, id, name } = item;
  const start = clock.now();
  let result: ItemResult = {};
  try {
    await work.part(name, async (part) => {
      result = await process(item, part, deletions);
      // The part shows the failure.
      if (result.error !== undefined) throw toFailure(item, result.error);
    });
  } catch (error) {
    if (result.error === undefined)
      result = { ...result, error: toLoggedError(error) };
  }
  const status =
    result.error === undefined
      ? result.reason === undefined
        ? "success"
        : "skipped"
      : work.signal.aborted
        ? "aborted"
        : "failure";
  return { type, id, name, status, start, end: clock.now(), ...result };
}

function toFailure({ name }: RunItem, error: object): XoError {
  const { message = "" } = error as { readonly message?: string };
  return new XoError("STOPPED_MIDWAY", {
    what: `backup of ${name}`,
    where: "see the log of the run",
    reason: message,
  });
}

function entriesBefore({ interrupted }: KindRun): ItemLogEntry[] {
  return [...(interrupted?.steps ?? [])].flatMap(([key, entry]) =>
    key.startsWith(STEP) ? [entry as ItemLogEntry] : [],
  );
}

/**
 * Sorts entries in the order of the plan, because items end in any order; entries
 * that are no longer in the plan come first.
 */
function sortAs(items: readonly RunItem[], entries: ItemLogEntry[]): void {
  const order = new Map(items.map((item, i) => [keyOf(item), i]));
  const positionOf = (entry: ItemLogEntry) => order.get(keyOf(entry)) ?? -1;
  entries.sort((a, b) => positionOf(a) - positionOf(b));
}

function keyOf({ type, id }: RunItem): string {
  return `${type} ${id}`;
}

function reportCounts(
  work: TaskContext,
  entries: readonly ItemLogEntry[],
  total: number,
): void {
  const { succeeded, failed } = toItemRunBody(entries);
  const waiting = total - entries.length;
  work.reportCounts({ total, succeeded, failed, running: 0, waiting });
}
