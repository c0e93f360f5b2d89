import { XoError } from "@xo-server/model";
import { checkReadOnly } from "./caller.js";
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
import type { CallOptions, EventsOptions, Xapi, XapiEvents } from "./xapi.js";

/**
 * Makes a client; nothing is sent until connect().
 * @throws XoError CONFIG_INVALID
 */
export function createXapi(options: XapiOptions): Xapi {
  const parts: Parts = createParts(options, () => {
    void learnMembers(parts, options.onCandidates);
  });
  const { settings, label, logger, session, caller, secrets } = parts;
  const listing: ListingOptions = {
    ...{ caller, logger, label, callTimeoutMs: settings.callTimeoutMs },
    isAuto: settings.transport === "auto",
  };
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
      signal: more.signal,
      onBatch: (batch) => {
        if (tellsOfMembers(batch))
          void learnMembers(parts, options.onCandidates);
      },
    });
    try {
      for await (const item of stream.run()) {
        if (item.kind === "changes") eventAnswers++;
        yield item;
      }
    } catch (error) {
      throw secrets.scrubError(error);
    }
  }

  const unsupported = (what: string) =>
    Promise.reject(
      new XoError("UNSUPPORTED", { what, reason: "not in this version" }),
    );

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
      await clean(session.disconnect());
      parts.connections.close(new XoError("CLOSED", { what: label }));
    },
    call: (method, params, more) => clean(call(method, params, more)),
    listRecords: (className, list) =>
      clean(listRecords(listing, className, list)),
    listableClasses: () => clean(listableClasses(listing)),
    injectToken: () => clean(injectToken(parts)),
    events,
    callAsync: () => unsupported("callAsync"),
    watchTask: () => unsupported("watchTask"),
    getStream: () => unsupported("getStream"),
    putStream: () => unsupported("putStream"),
    connectStream: () => unsupported("connectStream"),
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
