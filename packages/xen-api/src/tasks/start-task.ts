import { randomUUID } from "node:crypto";
import { pause } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { XapiComponents } from "../components.js";
import {
  isAnswerLost,
  isAnswerMissing,
  searchTimeoutMs,
} from "../calls/acting-call.js";
import { CALL_MARK } from "../calls/creation-mark.js";
import { SEARCH_MS, type TaskMarks } from "./marked-tasks.js";
import type { AsyncCallOptions } from "../xapi.js";

/**
 * A response that is not received within this time after events have reported its
 * task counts as lost, in ms.
 */
const LATE_MS = 5_000;
/** Pause before the tasks of the pool are read again: the request may have been under way, in ms. */
const SEARCH_AGAIN_MS = 2_000;
/**
 * Number of lists without the task after which it counts as missing, and number of
 * lists that may fail.
 */
const SEARCHES = 2;
/**
 * Time in which a request that was lost may still arrive, in ms: the system sends it again for up to a
 * quarter of an hour.
 */
const ARRIVAL_MS = 15 * 60_000;

/**
 * Calls `Async.<method>`, once. Its task has marks, so that it is also found if the answer is lost: the events report
 * it, or, after the connection has failed, the list of tasks has it.
 * @returns the reference of the task
 * @throws XapiError, XoError; RESULT_UNKNOWN: no task was found, but the pool may have got the call
 */
export async function startTask(
  parts: XapiComponents,
  method: string,
  params: readonly unknown[],
  options: AsyncCallOptions,
): Promise<string> {
  const marks = marksOf(options);
  const { clock, unreachableMs } = parts.settings;
  const until = clock.now() + unreachableMs;
  let isSent = false;
  const late = new AbortController();
  let stop = () => undefined as void;
  const found = new Promise<string>((resolve) => {
    stop = parts.marked.expect(marks, resolve);
  });
  const answer = send(parts, {
    method,
    params,
    signal: late.signal,
    options: {
      ...options,
      marks,
      beforeSend(session) {
        options.beforeSend?.(session);
        isSent = true;
      },
    },
  });
  endLate(parts, answer, found, late);
  try {
    return await Promise.race([answer, found]);
  } catch (error) {
    if (!isSent || !isAnswerLost(error)) throw error;
    const ref = await search(parts, { marks, found, until });
    if (ref === undefined) {
      // The call was answered: the error is the result.
      if (!isAnswerMissing(error)) throw error;
      const reason = (error as Error).message;
      void reportArrival(parts, method, marks);
      throw new XoError(
        "RESULT_UNKNOWN",
        { method: `Async.${method}`, reason },
        error,
      );
    }
    parts.logger.info(
      `${parts.label}: the response to Async.${method} was lost, its XAPI task was found`,
    );
    return ref;
  } finally {
    stop();
  }
}

/** Entries by which the task of this call is known; the caller may need its own. */
function marksOf({ marks = {} }: AsyncCallOptions): TaskMarks {
  return Object.keys(marks).length === 0
    ? { [CALL_MARK]: randomUUID() }
    : marks;
}

/** Logs it if a call whose result was reported as unknown arrives nevertheless. Never rejects. */
async function reportArrival(
  { marked, settings: { clock }, closing, logger, label }: XapiComponents,
  method: string,
  marks: TaskMarks,
): Promise<void> {
  const arrived = new AbortController();
  const stop = marked.expect(marks, (ref) => {
    if (arrived.signal.aborted) return;
    arrived.abort();
    logger.warn(
      `${label}: Async.${method} has arrived late, after its result was reported as unknown: it is carried out as XAPI task ${ref}`,
    );
  });
  await pause(clock, ARRIVAL_MS, arrived.signal, closing.signal);
  stop();
}

/** Gives up the connection of an answer that is overdue: others would wait for it in the queue. */
function endLate(
  { settings: { clock } }: XapiComponents,
  answer: Promise<unknown>,
  found: Promise<unknown>,
  late: AbortController,
): void {
  const ended = new AbortController();
  const end = () => {
    ended.abort();
  };
  void answer.then(end, end);
  void found.then(async () => {
    await pause(clock, LATE_MS, ended.signal);
    late.abort();
  });
}

/** Looks for the task. @returns undefined: there is none, or the pool cannot be read */
async function search(
  parts: XapiComponents,
  {
    marks,
    found,
    until,
  }: {
    readonly marks: TaskMarks;
    readonly found: Promise<string>;
    readonly until: number;
  },
): Promise<string | undefined> {
  const { marked, settings } = parts;
  const { clock } = settings;
  let failures = 0;
  for (let lists = 0; lists < SEARCHES && failures <= SEARCHES;) {
    if (lists + failures > 0)
      await Promise.race([found, pause(clock, SEARCH_AGAIN_MS)]);
    const timeoutMs = searchTimeoutMs(parts, SEARCH_MS, until);
    if (timeoutMs <= 0) return undefined;
    try {
      const ref = await Promise.race([found, marked.search(marks, timeoutMs)]);
      if (ref !== undefined) return ref;
      lists++;
    } catch {
      // The failure of the call itself is reported.
      failures++;
    }
  }
  return undefined;
}

function once<T>(
  listener: ((value: T) => void) | undefined,
): ((value: T) => void) | undefined {
  let isCalled = false;
  return (value) => {
    if (isCalled) return;
    isCalled = true;
    listener?.(value);
  };
}

interface Start {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly options: AsyncCallOptions;
  /** Ends only the wait for the answer. */
  readonly signal?: AbortSignal;
}

async function send(
  { executor, settings, label }: XapiComponents,
  { method, params, options, signal }: Start,
): Promise<string> {
  // The signal of the caller is not passed on: a task whose reference is unknown could not be cancelled.
  const ref = await executor.value({
    method: `Async.${method}`,
    params,
    priority: "call",
    timeoutMs: settings.callTimeoutMs,
    signal,
    beforeSend: options.beforeSend,
    isPatient: options.isPatient,
    onUnanswered: once(options.onUnanswered),
    headers: toHeaders(options.marks),
  });
  if (typeof ref === "string") return ref;
  const reason = `Async.${method} returned no task`;
  throw new XoError("BAD_ANSWER", { address: label, reason, start: "" });
}

/** XAPI copies these headers into other_config of the task that it creates for the call [context.ml, get_http_other_config]. */
function toHeaders(
  marks: AsyncCallOptions["marks"] = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(marks).map(([key, value]) => [
      `X-Http-other-config-${key}`,
      value,
    ]),
  );
}
