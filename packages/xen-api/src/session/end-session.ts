import { pause } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import type { XapiComponents } from "../components.js";

/** Interval of the checks whether the tasks of the session have ended, in ms. */
const POLL_MS = 500;
/** A request that XAPI had accepted before the logout has its task at the latest after this time, in ms. */
const ACCEPTED_MS = 500;
/** Time limit of reading all tasks, in ms. */
const READ_MS = 60_000;

/**
 * See Xapi.endSession. XAPI checks the session of a request before it creates its task [gen_server.ml]. A migration
 * uses the session of its call on the other host [xapi_vm_migrate.ml, pool_migrate]: so pending tasks are waited for.
 */
export async function endSession(
  parts: XapiComponents,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  const { secrets, settings } = parts;
  const { clock } = settings;
  secrets.addSession(session);
  for (;;) {
    const pending = await countPending(parts, session, signal);
    if (pending === undefined) return;
    if (pending === 0) break;
    await pause(clock, POLL_MS, signal);
    if (signal.aborted)
      throw new XoError("ABORTED", {
        what: `the end of a session with ${pending} pending tasks`,
      });
  }
  await parts.session.endOther(session, signal);
  await pause(clock, ACCEPTED_MS);
}

/** @returns undefined: the session does not exist */
async function countPending(
  { executor }: XapiComponents,
  session: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const read = (method: string, ...params: readonly unknown[]) =>
    executor.value({
      method,
      params,
      signal,
      priority: "call",
      timeoutMs: READ_MS,
    });
  try {
    const own = new Set(
      (await read("session.get_tasks", session)) as readonly string[],
    );
    if (own.size === 0) return 0;
    const all = (await read("task.get_all_records")) as Readonly<
      Record<string, { readonly status?: unknown }>
    >;
    return Object.entries(all).filter(
      ([ref, { status }]) => own.has(ref) && PENDING.has(status),
    ).length;
  } catch (error) {
    if (error instanceof XapiError && error.code === "HANDLE_INVALID")
      return undefined;
    throw error;
  }
}

const PENDING: ReadonlySet<unknown> = new Set(["pending", "cancelling"]);
