import { XoError } from "@xo-server/model";
import type { Audit, AuditedChange } from "./audit.js";
import type { HandlerContext, Operation } from "./operation.js";
import { isRefusal } from "./refusal.js";

interface Audited<S> {
  readonly context: HandlerContext<S>;
  readonly audit: Audit;
}

/** Runs an operation that changes something, and records its begin and outcome. */
export async function runAudited<S>(
  operation: Operation<S>,
  params: object,
  { context, audit }: Audited<S>,
): Promise<unknown> {
  const begun = await beginChange({ operation, params, context }, audit);
  context.startedTask.listen(begun.noteTask);
  let result: unknown;
  try {
    result = await runOperation(operation, params, context);
  } catch (error) {
    const written = begun.end({ error: error as Error });
    // A rejection does not wait for the audit log: REST treats a call that is not
    // rejected quickly as a running task.
    if (!isRefusal(error)) await written;
    throw error;
  }
  await begun.end({ result });
  return result;
}

/**
 * Records that a change begins. A call of a task waits while the database is
 * unavailable, because it has not sent anything yet.
 * @throws XoError STORE_UNAVAILABLE, ABORTED
 */
async function beginChange<S>(
  call: AuditedChange & { readonly context: HandlerContext<S> },
  audit: Audit,
): ReturnType<Audit["begin"]> {
  const { operation, context } = call;
  for (;;)
    try {
      audit.check();
      return await audit.begin(call);
    } catch (error) {
      const isUnavailable =
        error instanceof XoError && error.code === "STORE_UNAVAILABLE";
      if (!isUnavailable || context.waitsForStore !== true) throw error;
      await audit.untilWritable(context.signal);
      if (context.signal.aborted)
        throw new XoError("ABORTED", { what: operation.name });
    }
}

/** The result of an operation without a result is true, because clients decode it as a boolean. */
export async function runOperation<S>(
  { handler, admitsItself = false }: Operation<S>,
  params: object,
  context: HandlerContext<S>,
): Promise<unknown> {
  const result = handler(params as never, context);
  if (!admitsItself) context.onBegin?.();
  return (await result) ?? true;
}
