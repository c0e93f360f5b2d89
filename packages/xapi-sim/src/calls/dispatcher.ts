import { datamodel } from "@xo-server/model";
import type { InjectedError } from "../faults/injected-errors.js";
import type { OperationTable, SessionContext } from "../operation.js";
import { valueAnswer, type Answer } from "../rpc/answer.js";
import { readParam, unknownMethod } from "../rpc/param-reader.js";
import {
  MalformedRequest,
  type RpcRequest,
  type WireValue,
} from "../rpc/wire-value.js";
import { fieldType } from "../field-type.js";
import { XapiFailure, internalError } from "../xapi-failure.js";
import type { XapiValue } from "../xapi-value.js";
import type { CallOrigin, Core, CoreContext, CoreTable } from "./core.js";
import { eventMessages } from "./event-messages.js";
import { callGenerated } from "./generated-calls.js";
import { messageMessages } from "./message-messages.js";
import { findMethod, methodNames, type Method } from "./method-index.js";
import { poolMessages } from "./pool-messages.js";
import { requireCoordinator, sessionMessages } from "./session-messages.js";
import { taskMessages } from "./task-messages.js";

const ownMessages: CoreTable = {
  ...sessionMessages,
  ...eventMessages,
  ...taskMessages,
  ...messageMessages,
  ...poolMessages,
};

const NO_SESSION: SessionContext = { ref: "", userName: "" };

/** An error raised before dispatch: its envelope is a broken one (see rpc-endpoints.ts). */
export class EarlyFailure extends XapiFailure {}

/** Takes calls apart in XAPI's order: name, number of parameters, their types, session, then the effect. */
export class Dispatcher {
  readonly #core: Core;
  readonly #messages: CoreTable;
  readonly #operations: OperationTable;

  /** @param messages what is served beside the messages of `calls` with all parts of the pool */
  constructor(core: Core, operations: OperationTable, messages: CoreTable) {
    this.#core = core;
    this.#messages = { ...ownMessages, ...messages };
    this.#operations = operations;
  }

  /** @throws XapiFailure; EarlyFailure for those before dispatch */
  async call(request: RpcRequest, origin: CallOrigin): Promise<Answer> {
    this.#checkEmergency(request.method);
    if (request.method === "system.listMethods")
      return valueAnswer(fieldType("string set"), methodNames());
    // XAPI 26 crashes on it.
    if (request.method.startsWith("system.isAlive:"))
      throw new MalformedRequest('Invalid_argument("String.sub / Bytes.sub")');
    const isAsync = request.method.startsWith("Async.");
    const name = isAsync ? request.method.slice(6) : request.method;
    const method = findMethod(name) ?? this.#unknown(name, request.params);
    if (isAsync && method.model.async !== true)
      throw new XapiFailure("Fault", [
        `No async mode for this operation (rpc: ${method.fullName})`,
      ]);
    const [session, wireParams] = this.#split(method, request.params);
    const params = this.#read(method, wireParams);
    const caller = this.#authorize(method, session, origin);
    if (method.model.removed === true) throw new XapiFailure("MESSAGE_REMOVED");
    return isAsync
      ? this.#start(method, params, { caller, origin })
      : this.#run(method, params, this.#context(caller, origin));
  }

  #checkEmergency(method: string): void {
    if (
      !datamodel.emergencyCalls.includes(method) &&
      this.#core.faults.trigger("booting", method) !== undefined
    )
      throw new EarlyFailure("HOST_STILL_BOOTING");
  }

  /** An unknown call may be a host extension: then the session is checked first. */
  #unknown(name: string, params: readonly WireValue[]): never {
    const first = params[0];
    if (first !== undefined)
      this.#core.sessions.use(readParam(fieldType("string"), first) as string);
    throw unknownMethod(name);
  }

  /** Session and parameters apart, their number checked. */
  #split(
    method: Method,
    params: readonly WireValue[],
  ): [session: WireValue | undefined, params: readonly WireValue[]] {
    const withSession = method.model.sessionless !== true;
    const input = params.length - (withSession ? 1 : 0);
    const { required } = method;
    const optional = method.params.length > required;
    // A message with optional parameters ignores what is too many.
    if (input < required || (input > required && !optional))
      throw new XapiFailure("MESSAGE_PARAMETER_COUNT_MISMATCH", [
        method.fullName,
        String(required),
        String(input),
      ]);
    return withSession ? [params[0], params.slice(1)] : [undefined, params];
  }

  #read(method: Method, params: readonly WireValue[]): XapiValue[] {
    return method.params.map((type, i) => {
      const input = params[i];
      return input === undefined
        ? (method.model.params[i]![2] as XapiValue)
        : readParam(type, input);
    });
  }

  #authorize(
    method: Method,
    session: WireValue | undefined,
    origin: CallOrigin,
  ): SessionContext {
    if (session === undefined) return NO_SESSION;
    const ref = readParam(fieldType("string"), session) as string;
    if (this.#core.sessions.isLocal(ref)) {
      if (!datamodel.emergencyCalls.includes(method.fullName))
        throw new XapiFailure("SESSION_INVALID", [ref]);
    } else requireCoordinator({ core: this.#core, origin });
    return this.#core.sessions.use(ref);
  }

  #context(
    session: SessionContext,
    origin: CallOrigin,
    task?: CoreContext["task"],
  ): CoreContext {
    const core = this.#core;
    const { db, state, pool, clock, random } = core;
    const delay = async (ms: number): Promise<void> => {
      const signal = task?.signal ?? new AbortController().signal;
      await core.waiters.delay(core.failureProfile.duration(ms), signal);
      if (signal.aborted) throw new XapiFailure("TASK_CANCELLED", [task!.ref]);
    };
    return {
      core,
      origin,
      db,
      state,
      pool,
      session,
      task,
      clock,
      random,
      delay,
    };
  }

  async #run(
    method: Method,
    params: readonly XapiValue[],
    context: CoreContext,
  ): Promise<Answer> {
    const result: unknown = await this.#effect(method, params, context);
    return isAnswer(result)
      ? result
      : valueAnswer(method.result, result as XapiValue | undefined);
  }

  /** The effect, unless something is to come between. */
  async #effect(
    method: Method,
    params: readonly XapiValue[],
    context: CoreContext,
  ): Promise<unknown> {
    const { injectedErrors, failureProfile } = this.#core;
    if (method.model.async === true) this.#log(method, params, context);
    const injectedError = takeInjected(injectedErrors, method, params);
    injectedError?.onCall?.();
    if (injectedError !== undefined) await waitFor(injectedError, context);
    const failure =
      injectedError?.error !== undefined
        ? new XapiFailure(injectedError.error, injectedError.params)
        : method.model.async === true
          ? failureProfile.randomFailure(method.className, params)
          : undefined;
    if (failure === undefined) return this.#plain(method, params, context);
    if (injectedError?.error !== undefined && injectedError.when !== "work")
      throw failure;
    return this.#plain(method, params, failingAtWork(context, failure));
  }

  #log(
    { fullName }: Method,
    [object]: readonly XapiValue[],
    { origin, clock }: CoreContext,
  ): void {
    this.#core.callLog.add({
      at: clock.now(),
      method: fullName,
      object: typeof object === "string" ? object : "",
      marks: origin.taskMarks ?? {},
    });
  }

  #plain(
    method: Method,
    params: readonly XapiValue[],
    context: CoreContext,
  ): unknown {
    const { fullName } = method;
    if (Object.hasOwn(this.#messages, fullName))
      return this.#messages[fullName]!(context, params);
    if (Object.hasOwn(this.#operations, fullName))
      return this.#operations[fullName]!(context, params);
    return callGenerated(context, method, params);
  }

  /** Creates the task; the work continues in the background. */
  #start(
    method: Method,
    params: readonly XapiValue[],
    { caller, origin }: { caller: SessionContext; origin: CallOrigin },
  ): Answer {
    const { tasks } = this.#core;
    const ref = tasks.create(`Async.${method.fullName}`, "", {
      session: caller.ref,
      residentOn: origin.hostRef,
      marks: origin.taskMarks,
    });
    const task = tasks.start(ref);
    // The task continues if the connection is closed.
    const detached = { ...origin, closed: new AbortController().signal };
    const context = this.#context(caller, detached, task);
    Promise.resolve()
      .then(() => this.#run(method, params, context))
      .then((answer) => tasks.succeed(ref, answer.xml().join("")))
      .catch((error: unknown) => tasks.fail(ref, toFailure(error)));
    return valueAnswer(fieldType("task ref"), ref);
  }
}

/** Functions of plugins have names of their own: `host.call_plugin/updater.py/update`. */
function takeInjected(
  injectedErrors: Core["injectedErrors"],
  { fullName }: Method,
  [object, plugin, fn]: readonly XapiValue[],
): InjectedError | undefined {
  const found = injectedErrors.take(fullName, object);
  if (found !== undefined || !fullName.endsWith(".call_plugin")) return found;
  const name = `${fullName}/${plugin as string}/${fn as string}`;
  return injectedErrors.take(name, object);
}

/** @throws XapiFailure TASK_CANCELLED */
async function waitFor(
  { delayMs = 0 }: InjectedError,
  { core, task }: CoreContext,
): Promise<void> {
  const signal = task?.signal ?? new AbortController().signal;
  await core.waiters.delay(delayMs, signal);
  if (signal.aborted) throw new XapiFailure("TASK_CANCELLED", [task!.ref]);
}

/** The first thing that takes time fails, once half of that time has passed. */
function failingAtWork(
  context: CoreContext,
  failure: XapiFailure,
): CoreContext {
  return {
    ...context,
    delay: async (ms) => {
      await context.delay(ms / 2);
      throw failure;
    },
  };
}

function isAnswer(value: unknown): value is Answer {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { json?: unknown }).json === "function"
  );
}

/** Converts an exception to the error that XAPI reports for it. */
export function toFailure(error: unknown): XapiFailure {
  if (error instanceof XapiFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  return internalError(`Failure(${JSON.stringify(text)})`);
}
