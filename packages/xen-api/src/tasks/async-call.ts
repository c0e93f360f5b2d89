import { XoError } from "@xo-server/model";
import { checkReadOnly } from "../calls/call-executor.js";
import { resultTypeOf } from "../calls/declared-type.js";
import type { XapiComponents } from "../components.js";
import { startTask } from "./start-task.js";
import type { AsyncCallOptions } from "../xapi.js";

/** See Xapi.callAsync. */
export async function callAsync(
  parts: XapiComponents,
  method: string,
  params: readonly unknown[],
  options: AsyncCallOptions,
): Promise<unknown> {
  const { settings, tasks } = parts;
  if (settings.readOnly) checkReadOnly(method);
  if (options.signal?.aborted === true)
    throw new XoError("ABORTED", { what: method });
  const hadEventSource = tasks.hasEventSource;
  const ref = await startTask(parts, method, params, options);
  let hasEnded = false;
  try {
    options.onTask?.(ref);
    const resultType = resultTypeOf(method);
    const request = { ref, method, resultType, options };
    const result = await tasks.watch(request, hadEventSource);
    // Without an event source the polled connection is closed now; task.get_status, which only reads, replaces that connection first.
    hasEnded = hadEventSource;
    return result;
  } finally {
    void destroyTask(parts, { ref, hasEnded }, options.keepUntil);
  }
}

/** Destroys a task that has ended, so that it does not accumulate on the pool. A pending or deleted task is left as it is. */
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
      // No caller waits, and the task would stay.
      isPatient: true,
    });
  try {
    await keepUntil;
    const status = hasEnded ? "success" : await call("task.get_status");
    if (status !== "pending" && status !== "cancelling")
      await call("task.destroy");
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    logger.debug(`${label}: task not destroyed: ${reason}`);
  }
}
