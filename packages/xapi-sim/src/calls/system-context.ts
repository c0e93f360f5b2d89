import type { CallContext } from "../operation.js";
import type { Core } from "./core.js";

/** Context of changes that no client has requested. */
export function systemContext(core: Core): CallContext {
  const { db, state, pool, clock, random, waiters, failureProfile } = core;
  const never = new AbortController().signal;
  return {
    db,
    state,
    pool,
    clock,
    random,
    session: { ref: "", userName: "" },
    task: undefined,
    delay: (ms) => waiters.delay(failureProfile.duration(ms), never),
  };
}
