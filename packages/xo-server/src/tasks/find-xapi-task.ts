import { XapiError, type Ref } from "@xo-server/model";
import { CALL_MARK, type Xapi } from "@xo-server/xen-api";
import type { XapiTask } from "./xapi-task.js";

/** Result of a search for the XAPI task of a call whose task reference is not known. */
export type FoundXapiTask =
  | { readonly ref: Ref }
  /** Number of candidates; 0: the call did not reach the pool. */
  | {
      readonly count: number;
      readonly pending: number;
      readonly succeeded: number;
    };

/** Maximum difference between the clocks of a pool and of the server, in ms. */
const SKEW_MS = 30_000;

interface TaskRecord {
  readonly name_label?: unknown;
  readonly created?: unknown;
  readonly status?: unknown;
  readonly other_config?: unknown;
}

/**
 * Finds the XAPI task of a call during which the server crashed by the mark in its
 * other_config. XAPI tasks of other clients and of old hosts have no mark; of
 * these, a task of the same method is accepted that is not older than the call and
 * not known otherwise, preferably one in the object's current_operations.
 * @param known references of all other XAPI tasks
 * @throws XapiError, XoError: the pool could not be read
 */
export async function findXapiTask(
  xapi: Xapi,
  xapiTask: XapiTask,
  known: ReadonlySet<Ref>,
): Promise<FoundXapiTask> {
  const all = (await xapi.call("task.get_all_records")) as Record<
    string,
    TaskRecord
  >;
  const marked = Object.entries(all).find(
    ([, task]) => xapiTask.call !== undefined && markOf(task) === xapiTask.call,
  );
  if (marked !== undefined) return { ref: marked[0] };
  const possible = Object.entries(all).filter(
    ([ref, task]) =>
      !known.has(ref) && markOf(task) === undefined && fits(task, xapiTask),
  );
  const operations =
    possible.length === 0
      ? new Set<string>()
      : await operationsOf(xapi, xapiTask);
  const ours = possible.filter(([ref]) => operations.has(ref));
  if (ours.length === 1) return { ref: ours[0]![0] };
  const having = (status: string) =>
    possible.filter(([, task]) => task.status === status).length;
  return {
    count: possible.length,
    pending: having("pending"),
    succeeded: having("success"),
  };
}

function markOf({ other_config: config }: TaskRecord): string | undefined {
  const marks = (config ?? {}) as Readonly<Record<string, string>>;
  return Object.hasOwn(marks, CALL_MARK) ? marks[CALL_MARK] : undefined;
}

function fits({ name_label: name, created }: TaskRecord, xapiTask: XapiTask) {
  const at = toTime(created);
  return (
    name === `Async.${xapiTask.method}` &&
    (at === undefined || at >= xapiTask.begunAt - SKEW_MS)
  );
}

/** XAPI's `20261121T15:04:05Z` in milliseconds since the epoch. */
function toTime(text: unknown): number | undefined {
  const parts = /^(\d{4})-?(\d\d)-?(\d\d)T(.+)$/.exec(String(text));
  if (parts === null) return undefined;
  const [, year, month, day, time] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${time}`);
  return Number.isNaN(at) ? undefined : at;
}

/** References of the tasks in the object's current_operations. */
async function operationsOf(
  xapi: Xapi,
  { method, object }: XapiTask,
): Promise<ReadonlySet<string>> {
  if (object === undefined) return new Set();
  const [className] = method.split(".");
  try {
    const operations = await xapi.call(`${className}.get_current_operations`, [
      object,
    ]);
    return new Set(Object.keys(operations as object));
  } catch (error) {
    // The object was deleted, or its class has no such field.
    if (error instanceof XapiError) return new Set();
    throw error;
  }
}
