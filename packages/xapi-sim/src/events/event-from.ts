import type { SimulatorClock } from "../clock.js";
import type { Database } from "../database.js";
import type { Answer } from "../rpc/answer.js";
import { collect, countRefs } from "./collect.js";
import { eventAnswer } from "./event-answer.js";
import type { EventWaiters } from "./event-waiters.js";
import { EventFilter } from "./filter.js";
import { parseToken } from "./token.js";

/** XAPI collects changes for this time, in ms, before it answers, and between two checks [xapi_globs.ml:1186-1194]. */
const BATCH_MS = 50;
/** The effect of a negative or NaN timeout: a day, in ms. */
const DAY_MS = 24 * 3600_000;

interface EventFromOptions {
  readonly classes: readonly string[];
  readonly token: string;
  /** Seconds. */
  readonly timeout: number;
  /** Throws when the session has ended. */
  readonly checkSession: () => void;
  /** Aborted when the session or the connection ends. */
  readonly signal: AbortSignal;
}

/**
 * event.from: waits until there are events or the time is over.
 * @throws XapiFailure EVENT_FROM_TOKEN_PARSE_FAILURE, SESSION_INVALID
 */
export async function eventFrom(
  {
    db,
    clock,
    waiters,
  }: { db: Database; clock: SimulatorClock; waiters: EventWaiters },
  { classes, token, timeout, checkSession, signal }: EventFromOptions,
): Promise<Answer> {
  const filter = new EventFilter(classes);
  const from = parseToken(token);
  const ms = timeout >= 0 ? timeout * 1000 : DAY_MS;
  const deadline = clock.now() + ms;
  const batch = filter.tasksOnly ? 0 : BATCH_MS;
  await waiters.delay(batch, signal);
  for (;;) {
    checkSession();
    const collected = collect(db, filter, from);
    const left = deadline - clock.now();
    if (collected.events.length > 0 || left <= 0 || signal.aborted)
      return eventAnswer(collected, countRefs(db));
    await waiters.change(filter, left, signal);
    if (clock.now() < deadline) await waiters.delay(batch, signal);
  }
}
