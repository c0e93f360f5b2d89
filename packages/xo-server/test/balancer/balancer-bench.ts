import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Action, BalancePlan, BalancePolicy } from "@xo-server/placement";
import type { MonotonicClock } from "@xo-server/kit";
import {
  openStore,
  type AuditEntry,
  type Fence,
  type Store,
} from "@xo-server/store";
import type { Test } from "tap";
import { Balancer } from "../../src/balancer/balancer.js";
import type { BalancePlanner } from "../../src/balancer/balancer-input.js";
import { defaultPolicy, type Policy } from "../../src/balancer/policy.js";
import { recordOf } from "../../src/balancer/stored-json.js";
import type { RunRecord } from "../../src/balancer/run-record.js";
import { PlanRunner } from "../../src/balancer/plan-runner.js";
import { createAudit } from "../../src/operations/audit.js";
import type { RecordedCall } from "../../src/operations/activity-recorder.js";
import { Leases } from "../../src/cluster/leases.js";
import { Tasks } from "../../src/tasks/tasks.js";
import { cheapCosts } from "../cheap-costs.js";
import { LeaseDatabase } from "../cluster/lease-database.js";
import { FakeClock } from "../fake-clock.js";
import { FakeTaskStore } from "../fake-task-store.js";
import { SmallPool } from "./small-pool.js";

export const POOL = "pool";
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** The migrations that the scripted planner returns. */
export type PlannedMove = readonly [vm: string, to: string];

/** Servers with load balancers, on one store and one small pool; all share one clock. */
export class BalancerBench {
  readonly clock = new FakeClock();
  readonly pool = new SmallPool(this.clock);
  readonly servers: BalancerServer[] = [];
  readonly leases = new LeaseDatabase(() => this.clock.now());
  starts = 0;
  /** Moved as far as they are not excluded, and not there yet. */
  requests: readonly PlannedMove[] = [];
  /** Absent: `requests` is the plan. */
  planner: BalancePlanner["planner"] | undefined;
  readonly policies: BalancePolicy[] = [];
  readonly #folder: string;

  static async create(t: Test): Promise<BalancerBench> {
    const folder = await mkdtemp(join(tmpdir(), "balancer-"));
    const bench = new BalancerBench(folder);
    t.teardown(async () => {
      for (const server of bench.servers) await server.end();
      await rm(folder, { recursive: true, force: true });
    });
    return bench;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param name of before: the same server, started again */
  async start(name = "one"): Promise<BalancerServer> {
    const store = await openStore({
      location: join(this.#folder, "store.db"),
      key: { file: join(this.#folder, "store.key") },
      ...cheapCosts,
      clock: this.clock,
    });
    // As Membership does: a server finds that its last process has ended.
    const last = this.servers.findLast((one) => one.name === name);
    if (last !== undefined) this.leases.inherit({ owner: name }, last.instance);
    const server = new BalancerServer(this, name, store);
    this.servers.push(server);
    server.balancer.start();
    await this.pass(0);
    return server;
  }

  /** Time passes in steps that timers can follow. */
  async pass(ms: number, step = 10 * SECOND): Promise<void> {
    for (let left = ms; left >= 0; left -= step) {
      this.clock.pass(Math.min(step, left));
      await this.settle();
      if (left === 0) return;
    }
  }

  /** All that can be done is done: moves that go on wait for the test. */
  async settle(): Promise<void> {
    const idle = Promise.all(this.servers.map((one) => one.idle()));
    await Promise.race([idle, this.pool.isWaiting()]);
  }

  plan(policy: BalancePolicy): BalancePlan {
    this.policies.push(policy);
    const { excluded = [], maxMigrations: maxMigrationsPerRun } = policy;
    const figures = this.pool.figures();
    const actions: Action[] = this.requests
      .filter(([vm, to]) => this.pool.hostOf(vm) !== to)
      .filter(([vm]) => !excluded.includes(vm))
      .slice(0, maxMigrationsPerRun)
      .map(([vm, to]) => ({
        kind: "migrate",
        vm,
        from: this.pool.hostOf(vm),
        to,
        purpose: "overload",
        order: 0,
        after: [],
        score: { hostAffinity: 0, groups: 0, headroom: 0.5 },
      }));
    return {
      actions,
      unplaced: [],
      isProven: true,
      emptied: [],
      figuresBefore: figures,
      figuresAfter: figures,
      overloaded: [],
      stopped: this.requests.every(([vm, to]) => this.pool.hostOf(vm) === to)
        ? "balanced"
        : "no-beneficial-migration",
    };
  }
}

export class BalancerServer {
  readonly name: string;
  readonly instance: string;
  readonly #leases: Leases;
  readonly balancer: Balancer;
  readonly store: Store;
  readonly tasks: FakeTaskStore;
  readonly #tasks: Tasks;
  readonly audited: AuditEntry[] = [];
  readonly recorded: RecordedCall[] = [];
  readonly warnings: string[] = [];
  #isStopping = false;
  #isEnded = false;
  #isDead = false;

  constructor(bench: BalancerBench, owner: string, store: Store) {
    const { clock, pool } = bench;
    this.instance = `${owner} ${++bench.starts}`;
    this.store = store;
    this.tasks = new FakeTaskStore();
    const warn = (message: string) => this.warnings.push(message);
    const quiet = () => undefined;
    const logger = { info: quiet, warn, debug: quiet, error: warn };
    const audit = createAudit(
      {
        state: "available",
        auditChanges: {
          begin: async () => "begun",
          end: async (_id: string, one: AuditEntry) => this.audited.push(one),
        },
      } as unknown as Store,
      "test",
    );
    const tasks = new Tasks({ store: this.tasks, owner, clock, logger });
    this.#tasks = tasks;
    const recorder = {
      begin: (call: RecordedCall) => {
        this.recorded.push(call);
        return () => undefined;
      },
    };
    const runner = new PlanRunner({
      store,
      tasks,
      clock,
      logger,
      audit,
      recorder,
      objects: pool.objects,
      nameOf: (id) => `name of ${id}`,
      isStopping: () => this.#isStopping,
    });
    this.#leases = new Leases({
      store: bench.leases,
      self: { owner, instance: this.instance },
      isShared: true,
      servers: () => bench.servers.map(({ name }) => name),
      leaseMs: 150 * SECOND,
      clock: this.#durations(clock),
      logger,
    });
    this.name = owner;
    this.balancer = new Balancer({
      nameOf: (id) => `name of ${id}`,
      owner,
      leases: this.#leases,
      store: {
        balancerPolicies: store.balancerPolicies,
        balancerRuns: store.balancerRuns,
        balancerWatches: withFences(store, bench.leases),
        onChange: (listener) => store.onChange(listener),
      },
      runner,
      clock,
      logger,
      placement: {
        model: async () => pool.model(),
        planner: {
          balance: (model, policy) =>
            bench.planner === undefined
              ? Promise.resolve(bench.plan(policy))
              : bench.planner.balance(model, policy),
        },
      },
      observe: async (_pool, tags) => pool.observation(tags),
    });
  }

  set(change: Partial<Policy>): Promise<Policy> {
    return this.balancer.setPolicy(POOL, change);
  }

  /** Moves at once what is out of balance. */
  setKeen(change: Partial<Policy> = {}): Promise<Policy> {
    const keen = { mode: "automatic", holdSeconds: 0, parallel: 1 } as const;
    return this.set({ ...defaultPolicy, ...keen, ...change });
  }

  /** The one that there is. */
  async abortTask(): Promise<void> {
    const [id] = this.tasks.rows.keys();
    await this.#tasks.abort(id!, { id: "", isAdmin: true });
  }

  async standing() {
    return (await this.balancer.statuses([POOL])).get(POOL)!;
  }

  async state() {
    return (await this.standing()).published.state;
  }

  /** Newest first. */
  async history(): Promise<(RunRecord & { status: string })[]> {
    const { runs } = await this.balancer.history(POOL, {});
    return runs.map((run) => ({ ...recordOf(run), status: run.status }));
  }

  idle(): Promise<void> {
    return this.#isEnded ? Promise.resolve() : this.balancer.idle();
  }

  /** A killed server renews nothing. */
  #durations(clock: FakeClock): MonotonicClock {
    return {
      now: () => clock.now(),
      setTimeout: (callback, ms) =>
        clock.setTimeout(() => {
          if (!this.#isDead) callback();
        }, ms),
      clearTimeout: (handle) => {
        clock.clearTimeout(handle);
      },
    };
  }

  /** In good order. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.balancer.stop();
    void this.#leases.stop();
    await this.kill();
  }

  /** It is deleted without notice. */
  async kill(): Promise<void> {
    this.#isStopping = true;
    this.#isEnded = true;
    this.#isDead = true;
    await this.store.close();
  }

  async end(): Promise<void> {
    if (!this.#isEnded) await this.stop();
  }
}

/** What servers publish, with the fences of the leases of the test. */
function withFences(
  { balancerWatches }: Store,
  leases: LeaseDatabase,
): Store["balancerWatches"] {
  const check = async (fence: Fence | undefined) => {
    if (fence !== undefined) leases.check(fence);
  };
  const watches: Pick<Store["balancerWatches"], "put" | "delete" | "list"> = {
    put: (watch, fence) => check(fence).then(() => balancerWatches.put(watch)),
    delete: (pool, fence) =>
      check(fence).then(() => balancerWatches.delete(pool)),
    list: () => balancerWatches.list(),
  };
  return watches as Store["balancerWatches"];
}

/** Polls: what a thread does is not to be seen from here. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Two hosts with three VMs on the first; nothing is set, and no server is there. */
export async function setUpOverloaded(t: Test): Promise<BalancerBench> {
  const bench = await BalancerBench.create(t);
  bench.pool.addHosts("a", "b");
  for (const vm of ["x", "y", "z"]) bench.pool.addVm(vm, "a");
  return bench;
}
