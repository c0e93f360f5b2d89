import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { Type } from "typebox";
import type { Test } from "tap";
import {
  defineOperation,
  type Operation,
} from "../src/operations/operation.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import type { PoolSummary } from "../src/status/status.js";
import { Rights } from "../src/rights/rights.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { TrackedXapi } from "../src/tasks/tracked-xapi.js";
import { XapiTaskWatch } from "../src/tasks/xapi-task-watch.js";
import { Recovery } from "../src/recovery/recovery.js";
import { StepJournal } from "../src/tasks/step-journal.js";
import { Tasks } from "../src/tasks/tasks.js";
import type { TaskContext } from "../src/tasks/task-context.js";
import { createFakeAudit } from "./fake-audit.js";
import { FakeClock } from "./fake-clock.js";
import { fakeSeals } from "./fake-seals.js";
import { FakeStepStore } from "./fake-step-store.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { createTestDispatcher } from "./test-dispatcher.js";

export const ada = { id: "u", isAdmin: false };
const quiet = { warn: () => undefined, info: () => undefined };
const loud = { ...quiet, debug: quiet.warn, error: quiet.warn };
export const settle = () => new Promise(setImmediate);
export const VM = "OpaqueRef:vm";

/** A pool with tasks that end as a test says; it outlives servers. */
class FakePool {
  readonly asked: string[] = [];
  readonly cancelled: string[] = [];
  /** Those whose end was not reported. */
  readonly #waiting = new Map<
    string,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  records: Record<string, object> = {};
  operations: Record<string, string> = {};
  powerState = "Running";
  /** The next call gets no answer. */
  isMute = false;
  session = "OpaqueRef:session";
  readonly endedSessions: string[] = [];
  onEndSession: () => void = () => undefined;
  onDestroy: () => void = () => undefined;
  /** @returns the session with which a call is sent */
  onSend: () => string = () => this.session;

  get xapi(): Xapi {
    const wait = (ref: string, signal?: AbortSignal) =>
      new Promise((resolve, reject) => {
        this.#waiting.set(ref, { resolve, reject });
        const cancel = () => {
          this.cancelled.push(ref);
          reject(new XoError("ABORTED", { what: ref }));
        };
        if (signal?.aborted === true) cancel();
        signal?.addEventListener("abort", cancel);
      });
    const xapi = {
      label: "pool",
      state: { name: "connected" },
      session: async () => this.session,
      endSession: async (session: string) => {
        this.endedSessions.push(session);
        this.onEndSession();
      },
      callAsync: async (
        method: string,
        _params: unknown,
        options: Parameters<Xapi["callAsync"]>[2],
      ) => {
        options?.beforeSend?.(this.onSend());
        this.asked.push(method);
        const ref = `OpaqueRef:${this.asked.length}`;
        if (!this.isMute) options?.onTask?.(ref);
        return wait(ref, options?.signal);
      },
      watchTask: (ref: string, options: Parameters<Xapi["watchTask"]>[1]) =>
        wait(ref, options?.signal),
      call: async (method: string) => {
        if (method === "task.get_all_records") return this.records;
        if (method === "task.destroy") this.onDestroy();
        if (method === "VM.get_current_operations") return this.operations;
        return method === "VM.get_power_state" ? this.powerState : "";
      },
    };
    return xapi as unknown as Xapi;
  }

  /** Who asked is dead. */
  hangUp(): void {
    this.#waiting.clear();
  }

  async end(ref: string, error?: Error): Promise<void> {
    while (!this.#waiting.has(ref)) await settle();
    const { resolve, reject } = this.#waiting.get(ref)!;
    if (error === undefined) resolve("");
    else reject(error);
    await settle();
  }
}

const allowed = new Rights([
  { effect: "allow", resource: "VM", action: "read" },
  { effect: "allow", resource: "VM", action: "operate" },
]);
export const person = (rights = allowed): AuthenticatedUser => ({
  id: "u",
  name: "ada",
  isAdmin: false,
  groups: [],
  rights,
});

const OPERATION: Operation = defineOperation({
  name: "vm.do",
  summary: "",
  params: Type.Object({ id: Type.String() }),
  result: Type.Boolean(),
  permission: { action: "operate:use", resource: "VM", id: ({ id }) => id },
  changes: true,
  handler: () => true,
});

/** The only object. */
const findObject = (id: string) =>
  id === "v"
    ? {
        id,
        type: "VM",
        pool: "p",
        json: Buffer.from(JSON.stringify({ id, type: "VM" })),
      }
    : undefined;

function auditInto(outcomes: string[]) {
  return createFakeAudit({
    check: () => undefined,
    write: async ({ outcome }) =>
      void outcomes.push("error" in outcome ? "failure" : "success"),
  });
}

/** The tasks of a server. */
function openTasks(
  t: Test,
  owner: string,
  {
    clock,
    store,
    stepStore,
  }: { clock: FakeClock; store: FakeTaskStore; stepStore: FakeStepStore },
) {
  const steps = new StepJournal({
    store: stepStore.store,
    seals: fakeSeals,
    clock,
    logger: quiet,
  });
  const tasks = new Tasks({ store, steps, clock, owner, logger: quiet });
  t.teardown(() => {
    tasks.stop();
  });
  return { tasks, steps };
}

/** Servers, one after the other, over the same store and pool. */
export function setUp(t: Test, extra: Partial<Operation> = {}) {
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const stepStore = new FakeStepStore();
  const pool = new FakePool();
  const audit: string[] = [];
  let users: AuthenticatedUser | undefined = person();
  const operation = { ...OPERATION, ...extra };
  const open = (owner = "here") =>
    openTasks(t, owner, { clock, store, stepStore });
  const begin = async (
    { tasks }: ReturnType<typeof open>,
    run: (xapi: () => Xapi, work: TaskContext) => Promise<unknown>,
    subject: object = {},
  ) => {
    const task = tasks.prepare({
      name: "do it",
      objectType: "VM",
      objectId: "v",
      userId: "u",
      params: {},
      operation: "vm.do",
      ...subject,
    });
    const { node } = task;
    const result = run(() => new TrackedXapi(pool.xapi, "p", node), node);
    result.catch(() => undefined);
    await tasks.follow(task, result);
    for (let i = 0; i < 10; i++) await settle();
    return task.id;
  };
  const restart = async (owner = "here") => {
    pool.hangUp();
    const { tasks, steps } = open(owner);
    const pools = {
      listSummaries: () => [{ id: "p", state: "watching" } as PoolSummary],
      xapi: () => pool.xapi,
    };
    const dispatcher = createTestDispatcher([operation], {
      logger: loud,
      findObject,
      audit: auditInto(audit),
    });
    const recovery = new Recovery({
      dispatcher,
      connectionOf: (id) => findObject(id)?.pool,
      pools,
      steps,
      clock,
      logger: quiet,
      users: { get: () => users },
      objects: new PoolObjects(
        { get: () => undefined, poolOf: () => "p", classOf: (type) => type },
        pools,
      ),
      watch: new XapiTaskWatch({ pools, steps, clock }),
    });
    const interrupted = await tasks.loadInterrupted();
    const done = recovery.recover(interrupted);
    return { tasks, interrupted, done };
  };
  return {
    clock,
    store,
    stepStore,
    pool,
    audit,
    open,
    begin,
    restart,
    setPerson: (now: AuthenticatedUser | undefined) => (users = now),
  };
}

export const oneCall = { isOneCall: () => true };
