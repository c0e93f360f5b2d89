import { XoError } from "@xo-server/model";
import { callAsync } from "./async-call.js";
import { checkReadOnly } from "./caller.js";
import { followEvents } from "./follow-events.js";
import { injectToken } from "./inject-token.js";
import { learnMembers } from "./learn-members.js";
import { listableClasses, listRecords } from "./listing.js";
import type { XapiOptions } from "./options.js";
import { createParts, type Parts } from "./parts.js";
import type { CallOptions, Xapi, XapiCounters } from "./xapi.js";

/**
 * Makes a client; nothing is sent until connect().
 * @throws XoError CONFIG_INVALID
 */
export function createXapi(options: XapiOptions): Xapi {
  const { onCandidates } = options;
  const parts: Parts = createParts(options, () => {
    parts.tasks.renew();
    void learnMembers(parts, onCandidates);
  });
  const { settings, label, session, listing, tasks, secrets } = parts;
  /** Every error that leaves goes without secrets. */
  const clean = <T>(promise: Promise<T>): Promise<T> =>
    promise.catch((error: unknown) => {
      throw secrets.scrubError(error);
    });
  return {
    label,
    get state() {
      return session.state;
    },
    get counters() {
      return countersOf(parts);
    },
    onState: (listener) => session.onState(listener),
    connect: (more) => clean(session.connect(more?.signal)),
    disconnect: () => clean(disconnect(parts)),
    call: (method, params = [], more = {}) =>
      clean(call(parts, method, params, more)),
    callAsync: (method, params = [], more = {}) =>
      clean(callAsync(parts, method, params, more)),
    watchTask: (ref, { resultType = "string", ...more } = {}) =>
      clean(
        tasks.watch({ ref, method: "the task", resultType, options: more }),
      ),
    listRecords: (className, list) =>
      clean(listRecords(listing, className, list)),
    listableClasses: () => clean(listableClasses(listing)),
    injectToken: () => clean(injectToken(parts)),
    events: (more = {}) => followEvents(parts, more, onCandidates),
    getStream: (more) => clean(parts.streams.get(more)),
    putStream: (body, more) =>
      settings.readOnly
        ? Promise.reject(readOnly(`PUT ${more.path}`))
        : clean(parts.streams.put(body, more)),
    // Whoever has a console can do anything to the machine behind it.
    connectStream: (more) =>
      settings.readOnly
        ? Promise.reject(readOnly(`CONNECT ${more.path}`))
        : clean(parts.streams.connect(more)),
  };
}

async function call(
  { settings, caller }: Parts,
  method: string,
  params: readonly unknown[],
  options: CallOptions,
): Promise<unknown> {
  if (settings.readOnly) checkReadOnly(method);
  const { signal, idempotent } = options;
  return caller.value({
    method,
    params,
    signal,
    idempotent,
    priority: options.priority ?? "call",
    timeoutMs: options.timeoutMs ?? settings.callTimeoutMs,
  });
}

async function disconnect(parts: Parts): Promise<void> {
  const closed = new XoError("CLOSED", { what: parts.label });
  parts.closing.abort(closed);
  parts.tasks.close(closed);
  await parts.session.disconnect();
  parts.connections.close(closed);
}

function countersOf({ caller, session, counts }: Parts): XapiCounters {
  const { bytesReceived, calls, failedCalls } = caller;
  return {
    bytesReceived,
    calls,
    failedCalls,
    ...counts,
    logins: session.logins,
  };
}

function readOnly(method: string): XoError {
  return new XoError("READ_ONLY", { method });
}
