import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import type { Action, Step } from "./action.js";
import type { BulkFailure, BulkOutcome, TaskFollower } from "./follow-task.js";
import { textOf } from "./text-of.js";

/** If a download has not started after this time, in ms, the browser has blocked it. */
const START_MS = 120_000;

interface SequentialTransfers {
  readonly call: Call;
  readonly follower: Pick<TaskFollower, "expect">;
  readonly setTimeout?: (run: () => void, ms: number) => unknown;
  readonly clearTimeout?: (timer: never) => void;
  /** Reason for an object whose transfer has not started. */
  readonly notBegun: () => string;
}

/**
 * Runs one transfer after another: the next is requested when the task of the
 * previous one has ended, so that neither the browser nor the pool handles all of
 * them at once. A failed transfer does not stop the others.
 */
export async function runSequentially(
  parts: SequentialTransfers,
  action: Pick<Action, "onResult">,
  steps: readonly Step[],
  onCounts: (counts: { succeeded: number; failed: number }) => void,
): Promise<BulkOutcome> {
  const failed: BulkFailure[] = [];
  let succeeded = 0;
  for (const { operation, objects } of steps)
    for (const { id } of objects) {
      onCounts({ succeeded, failed: failed.length });
      try {
        await transfer(parts, action, operation, id);
        succeeded += 1;
      } catch (error) {
        failed.push({ id, error: toReason(error) });
      }
    }
  return { succeeded, failed, failedLeftOut: 0, notBegun: 0 };
}

async function transfer(
  { call, follower, notBegun, ...timers }: SequentialTransfers,
  action: Pick<Action, "onResult">,
  { method, params = {} }: Step["operation"],
  id: string,
): Promise<void> {
  const later = timers.setTimeout ?? setTimeout;
  const never = timers.clearTimeout ?? clearTimeout;
  const task = await follower.expect(
    (properties) =>
      properties["objectId"] === id && properties["operation"] === method,
  );
  const timer = later(() => {
    task.giveUp(notBegun());
  }, START_MS);
  try {
    action.onResult?.(await call(method, { ...params, id }));
    await task.begun;
    never(timer as never);
    const ended = await task.ended;
    if (ended["status"] !== "success") throw new FailedTask(ended);
  } finally {
    never(timer as never);
    task.giveUp(notBegun());
  }
}

/** The failure of a transfer whose task did not succeed. */
class FailedTask extends Error {
  readonly code: string;

  constructor({ result, status }: Readonly<Record<string, Json>>) {
    const { message, code } = isObject(result) ? result : {};
    super(textOf(message ?? status));
    this.code = textOf(code);
  }
}

function toReason(error: unknown): BulkFailure["error"] {
  const { message, code, data } = error as Error & {
    code?: unknown;
    data?: { code?: unknown };
  };
  const named = data?.code ?? code;
  return typeof named === "string" && named !== ""
    ? { code: named, message }
    : { message };
}
