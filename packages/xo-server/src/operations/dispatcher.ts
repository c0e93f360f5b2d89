import { XapiError, XoError } from "@xo-server/model";
import { Ajv } from "ajv";
import type { Logger } from "../log/logger.js";
import { checkLevel, checkObject, type FindObject } from "./access.js";
import type { Audit } from "./audit.js";
import type { CallContext, HandlerContext, Operation } from "./operation.js";
import { inWork } from "../tasks/current-work.js";
import { untrackedTask } from "../tasks/task-context.js";
import { createCheck, type CheckParameters } from "./parameters.js";
import { isRefusal } from "./refusal.js";
import { touchedPools } from "./touched-pools.js";
import type { Witness } from "./witness.js";

/** The one place where a call is checked, made, and its failure given a name. */
export interface Dispatcher {
  /**
   * @param params an object; undefined, null and [] mean no parameters
   * @throws XoError or XapiError, nothing else
   */
  call(name: string, params: unknown, context: CallContext): Promise<unknown>;
  /**
   * Goes on with what was begun in this server's last run.
   * @throws XoError or XapiError, nothing else
   */
  resume(begun: Begun, context: CallContext): Promise<unknown>;
}

/** A call of the last run, as far as it is known. */
export interface Begun {
  readonly name: string;
  /** What it is done to, where its permission is about an object. */
  readonly objectId: string;
  /** Without secrets. */
  readonly params: object;
  /** How it goes on. */
  readonly run: (context: HandlerContext) => Promise<unknown>;
  /** It only tells what was done: nobody's rights are asked. */
  readonly isOnlyTold?: boolean;
}

/** What calls are held against. */
export interface Guards {
  /** Default: there are no objects. */
  readonly findObject?: FindObject;
  /** Default: changes are not written down. */
  readonly audit?: Audit;
  /** Sees who changes what while it goes on. Default: nobody does. */
  readonly witness?: Witness;
  /** Resolves when objects are read as these pools have them now. Default: at once. */
  readonly catchUp?: (pools: ReadonlySet<string>) => Promise<void>;
}

interface Entry {
  readonly operation: Operation;
  readonly check: CheckParameters;
}

export function createDispatcher(
  operations: readonly Operation[],
  logger: Logger,
  guards: Guards = {},
): Dispatcher {
  const { findObject = () => undefined } = guards;
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    allowUnionTypes: true,
    // Checking the schemas themselves would cost 50 ms of each start; the tests do.
    validateSchema: false,
  });
  const entries = new Map<string, Entry>(
    operations.map((operation) => [
      operation.name,
      { operation, check: createCheck(ajv, operation) },
    ]),
  );
  const find = (name: string): Entry => {
    const entry = entries.get(name);
    if (entry === undefined)
      throw new XoError("UNKNOWN_METHOD", { method: name });
    return entry;
  };
  const handle = async (
    name: string,
    context: CallContext,
    run: (entry: Entry, handled: HandlerContext) => Promise<unknown>,
  ) => {
    const entry = find(name);
    try {
      return await run(entry, new HandlerCall(context, findObject));
    } catch (error) {
      throw toKnownError(error, name, logger);
    }
  };
  return {
    call: (name, given, context) =>
      handle(name, context, async (entry, handled) => {
        const params = admit(entry, given, context, findObject);
        const { operation } = entry;
        return operation.changes === true
          ? await change(operation, params, handled, guards)
          : await run(operation, params, handled);
      }),
    resume: ({ name, objectId, params, run, isOnlyTold = false }, context) =>
      handle(name, context, async ({ operation }, handled) => {
        if (!isOnlyTold) admitAgain(operation, objectId, context, findObject);
        const handler = () => run(handled);
        // Its parameters have been checked when it began, and secrets of them are gone.
        const again = { ...operation, permission: byId(operation, objectId) };
        return change({ ...again, handler }, params, handled, guards);
      }),
  };
}

/** Whoever began it may not do so any more. @throws XoError UNAUTHORIZED, FORBIDDEN, NO_SUCH_OBJECT */
function admitAgain(
  { permission }: Operation,
  id: string,
  context: CallContext,
  findObject: FindObject,
): void {
  if (typeof permission === "string") checkLevel(context, permission);
  else checkObject(context, permission, { id, entry: findObject(id) });
}

function byId(
  { permission }: Operation,
  objectId: string,
): Operation["permission"] {
  return typeof permission === "string"
    ? permission
    : { ...permission, id: () => objectId };
}

/** @returns the parameters, checked */
function admit(
  { operation, check }: Entry,
  given: unknown,
  context: CallContext,
  findObject: FindObject,
): object {
  const { permission } = operation;
  if (typeof permission === "string") {
    checkLevel(context, permission);
    return check(given);
  }
  checkLevel(context, permission.action === "read" ? "viewer" : "user");
  const params = check(given);
  const id = permission.id(params as never);
  checkObject(context, permission, { id, entry: findObject(id) });
  return params;
}

/** Made for every call, and so without copying one object into another. */
class HandlerCall implements HandlerContext {
  readonly user: CallContext["user"];
  readonly permission: CallContext["permission"];
  readonly client: CallContext["client"];
  readonly address: string;
  readonly task: HandlerContext["task"];
  readonly isPartOfBulk: boolean;
  readonly #findObject: FindObject;

  constructor(context: CallContext, findObject: FindObject) {
    this.user = context.user;
    this.permission = context.permission;
    this.client = context.client;
    this.address = context.address;
    this.isPartOfBulk = context.isPartOfBulk === true;
    this.task = context.task ?? untrackedTask;
    this.#findObject = findObject;
  }

  get signal(): AbortSignal {
    return this.task.signal;
  }

  progress(fraction: number): void {
    this.task.progress(fraction);
  }

  check(action: string, resource: string, id: string): void {
    const entry = this.#findObject(id);
    checkObject(this, { action, resource }, { id, entry });
  }
}

/** Seen by the witness. */
async function change(
  operation: Operation,
  params: object,
  context: HandlerContext,
  guards: Guards,
): Promise<unknown> {
  const end = guards.witness?.begin({ operation, params, context });
  try {
    const result = await changeAndCatchUp(operation, params, context, guards);
    end?.(result);
    return result;
  } catch (error) {
    end?.();
    throw error;
  }
}

/** What the caller has changed is there to be read when the answer comes. */
async function changeAndCatchUp(
  operation: Operation,
  params: object,
  context: HandlerContext,
  { findObject, audit, catchUp }: Guards,
): Promise<unknown> {
  const { permission } = operation;
  const id =
    typeof permission === "string"
      ? {}
      : { id: permission.id(params as never) };
  const touched = (): ReadonlySet<string> =>
    findObject === undefined ||
    catchUp === undefined ||
    context.isPartOfBulk === true
      ? new Set<string>()
      : touchedPools({ ...params, ...id }, findObject);
  const before = touched();
  const result =
    audit === undefined
      ? await run(operation, params, context)
      : await changeAudited(operation, params, context, audit);
  // What it has deleted has no pool any more; what goes on after a restart may have had none yet.
  const pools = new Set([...before, ...touched()]);
  if (pools.size > 0) await catchUp?.(pools);
  return result;
}

async function changeAudited(
  operation: Operation,
  params: object,
  context: HandlerContext,
  audit: Audit,
): Promise<unknown> {
  audit.check();
  const call = { operation, params, context };
  try {
    const result = await run(operation, params, context);
    await audit.write({ ...call, outcome: { result } });
    return result;
  } catch (error) {
    const written = audit.write({
      ...call,
      outcome: { error: error as Error },
    });
    // Who is refused need not wait for that: REST tells a refusal from work by how soon it comes.
    if (!isRefusal(error)) await written;
    throw error;
  }
}

/** A method without a result answers true: clients decode it into a boolean. */
async function run(
  { handler }: Operation,
  params: object,
  context: HandlerContext,
): Promise<unknown> {
  const result = inWork(context.task, () => handler(params as never, context));
  return (await result) ?? true;
}

function toKnownError(error: unknown, name: string, logger: Logger): Error {
  if (error instanceof XoError || error instanceof XapiError) return error;
  // What nobody foresaw may tell things that a caller must not know.
  logger.error(`${name} failed`, { error });
  return new XoError(
    "INTERNAL",
    { reason: "the server's log tells more" },
    error,
  );
}
