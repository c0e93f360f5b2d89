import { XoError } from "@xo-server/model";
import { checkReadOnly } from "./caller.js";
import { resultTypeOf } from "./declared-type.js";
import { EventStream } from "./events.js";
import { addressUrl, type Address } from "./http/address.js";
import { injectToken } from "./inject-token.js";
import {
  listableClasses,
  listRecords,
  type ListingOptions,
} from "./listing.js";
import { membersIn, tellsOfMembers } from "./members.js";
import type { XapiOptions } from "./options.js";
import { createParts, type Parts } from "./parts.js";
import { Streams } from "./streams.js";
import { Tasks } from "./tasks.js";
import type {
  AsyncCallOptions,
  CallOptions,
  EventsOptions,
  Xapi,
  XapiEvents,
} from "./xapi.js";

/**
 * Makes a client; nothing is sent until connect().
 * @throws XoError CONFIG_INVALID
 */
export function createXapi(options: XapiOptions): Xapi {
  const parts: Parts = createParts(options, () => {
    tasks.renew();
    void learnMembers(parts, options.onCandidates);
  });
  const { settings, label, logger, session, caller, secrets } = parts;
  const listing: ListingOptions = {
    ...{ caller, logger, label, callTimeoutMs: settings.callTimeoutMs },
    isAuto: settings.transport === "auto",
  };
  const tasks = new Tasks({ ...settings, caller, logger, label });
  const streams = new Streams(session, parts.dialing);
  const closing = new AbortController();
  let eventAnswers = 0;
  /** Every error that leaves goes without secrets. */
  const clean = <T>(promise: Promise<T>): Promise<T> =>
    promise.catch((error: unknown) => {
      throw secrets.scrubError(error);
    });

  const call = async (
    method: string,
    params: readonly unknown[] = [],
    more: CallOptions = {},
  ): Promise<unknown> => {
    if (settings.readOnly) checkReadOnly(method);
    return caller.value({
      ...{ method, params, signal: more.signal, idempotent: more.idempotent },
      priority: more.priority ?? "call",
      timeoutMs: more.timeoutMs ?? settings.callTimeoutMs,
    });
  };

  async function* events(
    more: EventsOptions = {},
  ): AsyncGenerator<XapiEvents, void, undefined> {
    const stream = new EventStream({
      ...{ caller, session, origins: parts.origins, logger, label },
      injectToken: () => injectToken(parts),
      clock: settings.clock,
      random: settings.random,
      backoff: settings.backoff,
      classes: more.classes ?? ["*"],
      from: more.from ?? "",
      throttleMs: more.throttleMs ?? settings.throttleMs,
      eventTimeoutMs: settings.eventTimeoutMs,
      eventGraceMs: settings.eventGraceMs,
      signal: AbortSignal.any(
        [closing.signal, more.signal].filter((signal) => signal !== undefined),
      ),
      onBatch: (batch) => {
        tasks.feed(batch);
        if (tellsOfMembers(batch))
          void learnMembers(parts, options.onCandidates);
      },
    });
    const endFeed = tellsOfTasks(more.classes ?? ["*"])
      ? tasks.addFeed()
      : undefined;
    try {
      for await (const item of stream.run()) {
        if (item.kind === "changes") eventAnswers++;
        yield item;
      }
    } catch (error) {
      throw secrets.scrubError(error);
    } finally {
      endFeed?.();
    }
  }

  const callAsync = async (
    method: string,
    params: readonly unknown[] = [],
    more: AsyncCallOptions = {},
  ): Promise<unknown> => {
    if (settings.readOnly) checkReadOnly(method);
    if (more.signal?.aborted === true)
      throw new XoError("ABORTED", { what: method });
    // The signal does not end this call, which returns at once: a task nobody knows of could not be cancelled.
    const ref = await caller.value({
      method: `Async.${method}`,
      params,
      priority: "call",
      timeoutMs: settings.callTimeoutMs,
    });
    if (typeof ref !== "string") {
      const reason = `Async.${method} without a task`;
      throw new XoError("BAD_ANSWER", { address: label, reason, start: "" });
    }
    try {
      const resultType = resultTypeOf(method);
      return await tasks.watch({ ref, method, resultType, options: more });
    } finally {
      void dismissTask(parts, ref);
    }
  };

  return {
    label,
    get state() {
      return session.state;
    },
    get counters() {
      const { bytesReceived, calls, failedCalls } = caller;
      return {
        bytesReceived,
        calls,
        failedCalls,
        eventAnswers,
        logins: session.logins,
      };
    },
    onState: (listener) => session.onState(listener),
    connect: (more) => clean(session.connect(more?.signal)),
    async disconnect() {
      const closed = new XoError("CLOSED", { what: label });
      closing.abort(closed);
      tasks.close(closed);
      await clean(session.disconnect());
      parts.connections.close(closed);
    },
    call: (method, params, more) => clean(call(method, params, more)),
    listRecords: (className, list) =>
      clean(listRecords(listing, className, list)),
    listableClasses: () => clean(listableClasses(listing)),
    injectToken: () => clean(injectToken(parts)),
    events,
    callAsync: (method, params, more) => clean(callAsync(method, params, more)),
    watchTask: (ref, { resultType = "string", ...more } = {}) =>
      clean(
        tasks.watch({ ref, method: "the task", resultType, options: more }),
      ),
    getStream: (more) => clean(streams.get(more)),
    putStream: (body, more) => {
      if (settings.readOnly)
        return Promise.reject(
          new XoError("READ_ONLY", { method: `PUT ${more.path}` }),
        );
      return clean(streams.put(body, more));
    },
    connectStream: (more) => {
      if (settings.readOnly)
        return Promise.reject(
          new XoError("READ_ONLY", { method: `CONNECT ${more.path}` }),
        );
      return clean(streams.connect(more));
    },
  };
}

/** Asks for the members' addresses: they are where to look when the coordinator is gone. */
async function learnMembers(
  parts: Parts,
  onCandidates: XapiOptions["onCandidates"],
): Promise<void> {
  const { caller, candidates, settings, session, logger, label } = parts;
  const { state } = session;
  if (state.name !== "connected") return;
  const members: Address[] = [];
  try {
    const known = (await session.ready()).address;
    await caller.request({
      method: "host.get_all_records",
      className: "host",
      params: [],
      shape: "records",
      priority: "event",
      timeoutMs: settings.callTimeoutMs,
      onBatch: (batch) => members.push(...membersIn(batch, known)),
    });
  } catch (error) {
    logger.debug(
      `${label}: members not learned: ${error instanceof Error ? error.message : ""}`,
    );
    return;
  }
  if (members.length > 0 && candidates.learn(members))
    onCandidates?.(candidates.list().map(addressUrl));
}

/** A task that has ended is of no use to anybody. One that goes on, or that is gone, is left alone. */
async function dismissTask(
  { caller, settings, logger, label }: Parts,
  ref: string,
): Promise<void> {
  const request = {
    params: [ref],
    priority: "call",
    timeoutMs: settings.callTimeoutMs,
  } as const;
  try {
    const status = await caller.value({
      ...request,
      method: "task.get_status",
    });
    if (status !== "pending" && status !== "cancelling")
      await caller.value({ ...request, method: "task.destroy" });
  } catch (error) {
    logger.debug(
      `${label}: task not dismissed: ${error instanceof Error ? error.message : ""}`,
    );
  }
}

function tellsOfTasks(classes: readonly string[]): boolean {
  return classes.some(
    (filter) => filter === "*" || filter.toLowerCase() === "task",
  );
}
