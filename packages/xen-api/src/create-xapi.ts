import { XoError } from "@xo-server/model";
import { callActing } from "./calls/acting-call.js";
import { callAsync } from "./tasks/async-call.js";
import { checkReadOnly } from "./calls/call-executor.js";
import { awaitSession } from "./session/await-session.js";
import { endSession } from "./session/end-session.js";
import { openEventStream } from "./events/open-event-stream.js";
import { eventPosition } from "./events/event-position.js";
import { injectToken } from "./events/inject-token.js";
import { listableClasses, listRecords } from "./calls/listing.js";
import { isReadingMethod } from "./calls/method-policy.js";
import { FormerCoordinator } from "./session/former-coordinator.js";
import type { XapiOptions } from "./options.js";
import { createComponents, type XapiComponents } from "./components.js";
import { listenForNbd } from "./nbd-server.js";
import { openMember } from "./open-member.js";
import type {
  CallOptions,
  EventPosition,
  Xapi,
  XapiCounters,
  XapiState,
} from "./xapi.js";

/**
 * Creates a client of one pool. Sends nothing until connect().
 * @throws XoError CONFIG_INVALID
 */
export function createXapi(options: XapiOptions): Xapi {
  const left = new FormerCoordinator();
  const components: XapiComponents = createComponents(options, (connected) => {
    left.onConnected(components, connected);
    components.tasks.onNewSession();
    void components.discover();
  });
  const { settings, label, session, listing, tasks, secrets } = components;
  /** Masks secrets in every error that the client throws. */
  const scrubErrors = <T>(promise: Promise<T>): Promise<T> =>
    promise.catch((error: unknown) => {
      throw secrets.scrubError(error);
    });
  return {
    label,
    get state() {
      return withVia(components);
    },
    get counters() {
      return countersOf(components);
    },
    onState: (listener) => session.onState(listener),
    connect: (more) => scrubErrors(session.connect(more?.signal)),
    disconnect: () => scrubErrors(disconnect(components)),
    call: (method, params = [], more = {}) =>
      scrubErrors(call(components, method, params, more)),
    callAsync: (method, params = [], more = {}) =>
      scrubErrors(callAsync(components, method, params, more)),
    watchTask: (ref, { resultType = "string", ...more } = {}) =>
      scrubErrors(
        tasks.watch({ ref, method: "the task", resultType, options: more }),
      ),
    session: (more) => scrubErrors(currentSession(components, more)),
    endSession: (session, signal) =>
      scrubErrors(endSession(components, session, signal)),
    listRecords: (className, list) =>
      scrubErrors(listRecords(listing, className, list)),
    listableClasses: () => scrubErrors(listableClasses(listing)),
    injectToken: () => scrubErrors(requestToken(components)),
    eventPosition: () => scrubErrors(requestPosition(components)),
    events: (more = {}) => openEventStream(components, more),
    getStream: (more) => scrubErrors(components.streams.get(more)),
    putStream: (body, more) =>
      settings.readOnly
        ? Promise.reject(readOnly(`PUT ${more.path}`))
        : scrubErrors(components.streams.put(body, more)),
    streamTarget: (more) => scrubErrors(components.streams.target(more)),
    nbdSocket: (server) => scrubErrors(listenForNbd(components, server)),
    // A console gives full control of the VM or host behind it.
    connectStream: (more) =>
      settings.readOnly
        ? Promise.reject(readOnly(`CONNECT ${more.path}`))
        : scrubErrors(components.streams.connect(more)),
    openMember: (member, signal) =>
      scrubErrors(openMember(components, member, signal)),
  };
}

async function call(
  parts: XapiComponents,
  method: string,
  params: readonly unknown[],
  options: CallOptions,
): Promise<unknown> {
  const { settings, executor } = parts;
  if (settings.readOnly) checkReadOnly(method);
  const { signal, beforeSend } = options;
  const idempotent = options.idempotent ?? isReadingMethod(method);
  if (!idempotent && !isReadingMethod(method))
    return callActing(parts, { method, params, options });
  return executor.value({
    method,
    params,
    signal,
    idempotent,
    beforeSend,
    isPatient: options.isPatient,
    priority: options.priority ?? "call",
    timeoutMs: options.timeoutMs ?? settings.callTimeoutMs,
  });
}

async function currentSession(
  { sessionWait, settings: { callTimeoutMs: timeoutMs } }: XapiComponents,
  { method = "login", ...more }: Parameters<Xapi["session"]>[0] = {},
): Promise<string> {
  const waiting = { ...more, method, timeoutMs };
  return (await awaitSession(sessionWait, waiting)).session;
}

/** A caller that takes a token waits for its events: the stream polls without the usual delay. */
async function requestToken(parts: XapiComponents): Promise<string> {
  const token = await injectToken(parts);
  parts.pacing.requestToken(token);
  return token;
}

async function requestPosition(parts: XapiComponents): Promise<EventPosition> {
  const position = await eventPosition(parts);
  parts.pacing.requestToken(position.token);
  return position;
}

async function disconnect(parts: XapiComponents): Promise<void> {
  const closed = new XoError("CLOSED", { what: parts.label });
  parts.closing.abort(closed);
  parts.tasks.close(closed);
  await parts.session.disconnect();
  parts.connections.close(closed);
  parts.dialer.close();
}

function withVia({ session, dialer }: XapiComponents): XapiState {
  const { state, current } = session;
  const via = current && dialer.viaOf(current.address);
  return state.name === "connected" && via !== undefined
    ? { ...state, via }
    : state;
}

function countersOf({
  executor,
  session,
  counts,
}: XapiComponents): XapiCounters {
  const { bytesReceived, calls, failedCalls } = executor;
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
