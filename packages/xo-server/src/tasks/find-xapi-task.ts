import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { XapiTask } from "./xapi-task.js";

/** What was found of a call whose task this server never heard of. */
export type FoundXapiTask =
  | { readonly ref: Ref }
  /** Tasks that it may be, and no way to tell; none: the pool was not asked. */
  | {
      readonly count: number;
      readonly pending: number;
      readonly succeeded: number;
    };

/** By how much the clocks of a pool and of this server may differ, in ms. */
const SKEW_MS = 30_000;

interface TaskRecord {
  readonly name_label?: unknown;
  readonly created?: unknown;
  readonly status?: unknown;
}

/**
 * Looks among the tasks of a pool for the one of a call that the server died
 * in: of the same method, not older than the call, and of no other flight. One
 * that the object names among its operations is it; another client's is not.
 * @param known references of all other flights
 * @throws XapiError, XoError: the pool could not be asked
 */
export async function findXapiTask(
  xapi: Xapi,
  flight: XapiTask,
  known: ReadonlySet<string>,
): Promise<FoundXapiTask> {
  const all = (await xapi.call("task.get_all_records")) as Record<
    string,
    TaskRecord
  >;
  const possible = Object.entries(all).filter(
    ([ref, task]) => !known.has(ref) && fits(task, flight),
  );
  const operations =
    possible.length === 0
      ? new Set<string>()
      : await operationsOf(xapi, flight);
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

function fits({ name_label: name, created }: TaskRecord, flight: XapiTask) {
  const at = toTime(created);
  return (
    name === `Async.${flight.method}` &&
    (at === undefined || at >= flight.begunAt - SKEW_MS)
  );
}

/** XAPI: `20261121T15:04:05Z`, in milliseconds since the epoch. */
function toTime(text: unknown): number | undefined {
  const parts = /^(\d{4})-?(\d\d)-?(\d\d)T(.+)$/.exec(String(text));
  if (parts === null) return undefined;
  const [, year, month, day, time] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${time}`);
  return Number.isNaN(at) ? undefined : at;
}

/** References of the tasks that do something to the object now. */
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
    // It is gone, or its class has no such field.
    if (error instanceof XapiError) return new Set();
    throw error;
  }
}
