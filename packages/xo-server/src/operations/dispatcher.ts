import { XoError } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import { untrackedTask } from "../tasks/task-context.js";
import { checkLevel, checkObject, checkSetUp } from "./access.js";
import type {
  CallContext,
  Dispatcher,
  HandlerContext,
  InterruptedCall,
  Invocation,
  Operation,
} from "./operation.js";
import {
  createCheck,
  createValidators,
  type CheckParameters,
} from "./parameters.js";
import { toKnownError } from "./known-error.js";
import { startOperationSpan } from "./operation-span.js";
import type { DispatcherOptions } from "./dispatcher-options.js";
import { repeatRead } from "./repeat-read.js";
import { runAudited, runOperation } from "./run-audited.js";
import { StartedTask } from "./started-task.js";
import { touchedPools } from "./touched-pools.js";
import type { Action } from "../rights/actions.js";
import { inSpan, type Span } from "../telemetry/span.js";
import type { SpanContext } from "../telemetry/trace-context.js";

export type { Dispatcher } from "./operation.js";

/** An operation, its handler bound to the services. */
interface Entry<S> {
  readonly operation: Operation<S>;
  readonly check: CheckParameters;
}

/** @param operations all API methods; their names must be distinct */
export function createDispatcher<S>(
  operations: readonly Operation<S>[],
  options: DispatcherOptions<S>,
): Dispatcher {
  return new OperationDispatcher(operations, options);
}

class OperationDispatcher<S> implements Dispatcher {
  readonly operations: readonly Operation[];
  readonly options: DispatcherOptions<S>;
  readonly #entries: ReadonlyMap<string, Entry<S>>;

  constructor(
    operations: readonly Operation<S>[],
    options: DispatcherOptions<S>,
  ) {
    const validators = createValidators();
    this.operations = operations;
    this.options = options;
    this.#entries = new Map(
      operations.map((operation) => [
        operation.name,
        { operation, check: createCheck(validators, operation) },
      ]),
    );
  }

  find(name: string): Operation | undefined {
    return this.#entries.get(name)?.operation;
  }

  admit(name: string, input: unknown, context: CallContext): void {
    const entry = this.#entries.get(name);
    if (entry === undefined)
      throw new XoError("UNKNOWN_METHOD", { method: name });
    try {
      admit(entry, input, new HandlerCall(context, this));
    } catch (error) {
      throw toKnownError(error, name, this.options.logger);
    }
  }

  call(name: string, input: unknown, context: CallContext): Promise<unknown> {
    const span = this.#startSpan(name, context);
    const call = () => this.#call(name, input, { context, span });
    return span === undefined ? call() : inSpan(span, call);
  }

  /** Unknown names are not recorded: a client could send any number of them. */
  #startSpan(name: string, context: CallContext): Span | undefined {
    const { tracer } = this.options;
    if (tracer === undefined || !this.#entries.has(name)) return undefined;
    const kind = context instanceof HandlerCall ? "internal" : "server";
    return startOperationSpan(tracer, name, context, kind);
  }

  #call(
    name: string,
    input: unknown,
    { context, span }: TracedContext,
  ): Promise<unknown> {
    const invocation = { operation: name, params: input };
    const handled = new HandlerCall(context, this, { invocation, span });
    return this.#handle(name, async (entry) => {
      const { operation } = entry;
      const { stored, untilConnecting } = this.options;
      const connecting = untilConnecting?.(() =>
        touchedPools(input, handled.objects),
      );
      if (operation.changes !== true)
        return repeatRead(
          async () =>
            runOperation(
              operation,
              this.#admit(entry, input, handled),
              handled,
            ),
          { stored, connecting },
        );
      if (connecting !== undefined) await connecting;
      if (!handled.isPartOfBulk && stored?.isUnknown(input) === true)
        await stored.catchUp();
      const params = this.#admit(entry, input, handled);
      const touched = this.#touchedPools(operation, params, handled);
      const result = await this.#change(operation, params, handled);
      await this.#catchUp(touched);
      return result;
    });
  }

  resume(call: InterruptedCall, context: CallContext): Promise<unknown> {
    const { name } = call;
    const span = this.#startSpan(name, context);
    const resume = () => this.#resume(call, context, span);
    return span === undefined ? resume() : inSpan(span, resume);
  }

  #resume(
    call: InterruptedCall,
    context: CallContext,
    span: Span | undefined,
  ): Promise<unknown> {
    const { name, objectId, params, isOnlyReport = false } = call;
    const handled = new HandlerCall(context, this, { span });
    return this.#handle(name, async ({ operation }) => {
      if (!isOnlyReport) admitAgain(operation, objectId, handled);
      // The parameters were validated when the operation began; their secrets were removed since.
      const resumed: Operation<S> = {
        ...operation,
        permission: byId(operation, objectId),
        handler: () =>
          call.run(handled as HandlerContext as HandlerContext<never>),
      };
      const before = this.#touchedPools(resumed, params, handled);
      const result = await this.#change(resumed, params, handled);
      // The pool may only have connected in the meantime.
      const after = this.#touchedPools(resumed, params, handled);
      await this.#catchUp(new Set([...before, ...after]));
      return result;
    });
  }

  async #handle(
    name: string,
    handle: (entry: Entry<S>) => Promise<unknown>,
  ): Promise<unknown> {
    const entry = this.#entries.get(name);
    if (entry === undefined)
      throw new XoError("UNKNOWN_METHOD", { method: name });
    try {
      return await handle(entry);
    } catch (error) {
      throw toKnownError(error, name, this.options.logger);
    }
  }

  /**
   * Validates a call. Rejections because of a missing right are written to the
   * audit log.
   * @returns the validated parameters
   */
  #admit(entry: Entry<S>, input: unknown, context: HandlerCall<S>): object {
    try {
      return admit(entry, input, context);
    } catch (error) {
      if (error instanceof XoError && error.code === "FORBIDDEN") {
        const { operation } = entry;
        const params = toObject(input);
        this.options.audit?.refuse({ operation, params, context }, error);
      }
      throw error;
    }
  }

  /** Runs an operation that changes something: it is recorded as activity and in the audit log. */
  async #change(
    operation: Operation<S>,
    params: object,
    context: HandlerContext<S>,
  ): Promise<unknown> {
    const { activity: recorder, audit } = this.options;
    const end = recorder?.begin({ operation, params, context });
    try {
      const result =
        audit === undefined
          ? await runOperation(operation, params, context)
          : await runAudited(operation, params, { context, audit });
      end?.(result);
      return result;
    } catch (error) {
      end?.();
      throw error;
    }
  }

  /** Pools of the objects that parameters name. */
  #touchedPools(
    { permission }: Operation<S>,
    params: object,
    { objects, isPartOfBulk }: HandlerContext<S>,
  ): ReadonlySet<string> {
    if (this.options.catchUp === undefined || isPartOfBulk === true)
      return new Set();
    const id =
      typeof permission === "string"
        ? {}
        : { id: permission.id(params as never) };
    return touchedPools({ ...params, ...id }, objects);
  }

  /**
   * Waits until the changes of a call are in the mirror, so that the caller can read them after
   * the response.
   */
  async #catchUp(pools: ReadonlySet<string>): Promise<void> {
    if (pools.size > 0) await this.options.catchUp?.(pools);
  }
}

/**
 * Checks rights again, because the caller of an interrupted operation may have lost
 * them.
 * @throws XoError UNAUTHORIZED, FORBIDDEN, NO_SUCH_OBJECT
 */
function admitAgain<S>(
  { permission }: Operation<S>,
  id: string,
  context: HandlerContext<S>,
): void {
  if (typeof permission === "string") checkLevel(context, permission);
  else context.check(permission.action, permission.resource, id);
}

function byId<S>(
  { permission }: Operation<S>,
  objectId: string,
): Operation["permission"] {
  return typeof permission === "string"
    ? permission
    : { ...permission, id: () => objectId };
}

/** Parameters that were not checked. */
function toObject(input: unknown): object {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? input
    : {};
}

/** @returns the validated parameters */
function admit<S>(
  { operation, check }: Entry<S>,
  input: unknown,
  context: HandlerContext<S>,
): object {
  const { permission } = operation;
  checkSetUp(context, operation);
  if (typeof permission === "string") {
    checkLevel(context, permission);
    return check(input);
  }
  const { action, resource } = permission;
  checkLevel(context, action === "read" ? "viewer" : "user");
  const params = check(input);
  context.check(action, resource, permission.id(params as never));
  return params;
}

interface TracedContext {
  readonly context: CallContext;
  readonly span: Span | undefined;
}

interface CallParts {
  readonly invocation?: Invocation;
  readonly span?: Span | undefined;
}

/** Created for each call: members are not copied from object to object, and bound objects are created when first used. */
class HandlerCall<S> implements HandlerContext<S> {
  readonly user: CallContext["user"];
  readonly permission: CallContext["permission"];
  readonly client: CallContext["client"];
  readonly address: string;
  readonly onBegin: CallContext["onBegin"];
  readonly task: HandlerContext["task"];
  readonly isPartOfBulk: boolean;
  readonly waitsForStore: boolean;
  readonly takesPathAtOnce: boolean;
  readonly invocation: CallContext["invocation"];
  readonly answered: CallContext["answered"];
  readonly trace: SpanContext | undefined;
  readonly #span: Span | undefined;
  readonly #dispatcher: OperationDispatcher<S>;
  #objects: PoolObjects | undefined;
  #startedTask: StartedTask | undefined;

  constructor(
    context: CallContext,
    dispatcher: OperationDispatcher<S>,
    { invocation, span }: CallParts = {},
  ) {
    this.user = context.user;
    this.permission = context.permission;
    this.client = context.client;
    this.address = context.address;
    this.onBegin = context.onBegin;
    this.isPartOfBulk = context.isPartOfBulk === true;
    this.waitsForStore = context.waitsForStore === true;
    this.takesPathAtOnce = context.takesPathAtOnce === true;
    this.invocation = invocation;
    this.answered = context.answered;
    this.trace = span?.context ?? context.trace;
    this.#span = span;
    this.task = context.task ?? untrackedTask;
    this.#dispatcher = dispatcher;
  }

  get signal(): AbortSignal {
    return this.task.signal;
  }

  get objects(): PoolObjects {
    this.#objects ??= this.#dispatcher.options.objects.forTask(
      this.task,
      this.#span,
    );
    return this.#objects;
  }

  get startedTask(): StartedTask {
    return (this.#startedTask ??= new StartedTask());
  }

  get services(): S {
    return this.#dispatcher.options.services;
  }

  get dispatcher(): Dispatcher {
    return this.#dispatcher;
  }

  progress(fraction: number): void {
    this.task.progress(fraction);
  }

  check(action: Action, resource: string, id: string): void {
    const { objects } = this;
    checkObject(
      this,
      { action, resource },
      {
        id,
        entry: objects.find(id),
        missing: (type, one) => objects.missing(type, one),
      },
    );
  }

  call(name: string, params: unknown): Promise<unknown> {
    return this.#dispatcher.call(name, params, this);
  }
}
