import { XoError } from "@xo-server/model";
import { checkReadOnly } from "./call-executor.js";
import { resultTypeOf } from "./declared-type.js";
import type { XapiComponents } from "./components.js";
import type { AsyncCallOptions } from "./xapi.js";

/** See Xapi.callAsync. */
export async function callAsync(
  parts: XapiComponents,
  method: string,
  params: readonly unknown[],
  options: AsyncCallOptions,
): Promise<unknown> {
  const { settings, executor, tasks, label } = parts;
  if (settings.readOnly) checkReadOnly(method);
  if (options.signal?.aborted === true)
    throw new XoError("ABORTED", { what: method });
  const hadEventSource = tasks.hasEventSource;
  // The signal does not end this call, which returns at once: a task nobody knows of could not be cancelled.
  const ref = await executor.value({
    method: `Async.${method}`,
    params,
    priority: "call",
    timeoutMs: settings.callTimeoutMs,
  });
  if (typeof ref !== "string") {
    const reason = `Async.${method} without a task`;
    throw new XoError("BAD_ANSWER", { address: label, reason, start: "" });
  }
  let hasEnded = false;
  try {
    options.onTask?.(ref);
    const resultType = resultTypeOf(method);
    const request = { ref, method, resultType, options };
    const result = await tasks.watch(request, hadEventSource);
    // Without a feed the connection that was polled on is cut now, and what only reads had better go first.
    hasEnded = hadEventSource;
    return result;
  } finally {
    void destroyTask(parts, { ref, hasEnded }, options.keepUntil);
  }
}

/** A task that has ended is of no use to anybody. One that goes on, or that is gone, is left alone. */
async function destroyTask(
  parts: XapiComponents,
  { ref, hasEnded }: { readonly ref: string; readonly hasEnded: boolean },
  keepUntil: Promise<unknown> | undefined,
): Promise<void> {
  const { executor, settings, logger, label } = parts;
  const call = (method: string) =>
    executor.value({
      method,
      params: [ref],
      priority: "call",
      timeoutMs: settings.callTimeoutMs,
    });
  try {
    await keepUntil;
    const status = hasEnded ? "success" : await call("task.get_status");
    if (status !== "pending" && status !== "cancelling")
      await call("task.destroy");
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    logger.debug(`${label}: task not dismissed: ${reason}`);
  }
}
