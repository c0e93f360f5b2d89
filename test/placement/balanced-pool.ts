import type { Test } from "tap";
import type { ApiSession } from "../api-session.js";
import { until, type FastPool } from "./fast-pools.js";
import { guestRefs, guestsOn, isUp, type SeenMove } from "./pool-guard.js";

export interface Standing {
  readonly state: string;
  readonly reason?: { readonly code: string };
}

export interface Move {
  readonly vm: string;
  readonly from: string;
  readonly to: string;
  readonly purpose: string;
  readonly status: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

export interface Run {
  readonly id: string;
  readonly status: string;
  readonly start: number;
  readonly end?: number;
  readonly taskId?: string;
  readonly by: { readonly cause: string };
  readonly moves: readonly Move[];
}

interface AuditRecord {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Short times, at an accelerated clock. */
export const POLICY = {
  mode: "automatic",
  intervalSeconds: 10,
  holdSeconds: 20,
  coolDownSeconds: 300,
  maxMigrationsPerRun: 5,
  migrationCost: 0.002,
  cpuHigh: 0.5,
  cpuLow: 0.35,
};

/** Whether the VM can be migrated at a low cost. */
function mayLeave(db: FastPool["db"], vm: string): boolean {
  const { VBDs, allowed_operations, memory_dynamic_max } = db.get("VM", vm);
  const isShared = (VBDs as string[]).every((vbd) => {
    const vdi = db.find("VDI", db.get("VBD", vbd)["VDI"] as string);
    return vdi === undefined || db.get("SR", vdi["SR"] as string)["shared"];
  });
  const isAllowed = (allowed_operations as string[]).includes("pool_migrate");
  return isShared && isAllowed && Number(memory_dynamic_max) <= 8 * 2 ** 30;
}

function vcpusOf(db: FastPool["db"], vm: string): number {
  return Number(db.get("VM", vm)["VCPUs_at_startup"]);
}

/** A simulated pool, and the states and runs that the load balancer reports for it. */
export class BalancedPool {
  readonly pool: FastPool;
  readonly #api: ApiSession;

  constructor(api: ApiSession, pool: FastPool) {
    this.#api = api;
    this.pool = pool;
  }

  async set(policy: object): Promise<void> {
    await this.#request("balancer.setPolicy", policy);
  }

  standing(): Promise<Standing> {
    return this.#request("balancer.getState") as Promise<Standing>;
  }

  /** Oldest first. */
  async runs(): Promise<readonly Run[]> {
    const page = await this.#request("balancer.getHistory", { limit: 200 });
    return (page as { readonly runs: readonly Run[] }).runs.toReversed();
  }

  async doneMoves(): Promise<readonly Move[]> {
    const moves = (await this.runs()).flatMap((run) => run.moves);
    return moves.filter(({ status }) => status === "done");
  }

  async audited(): Promise<readonly AuditRecord[]> {
    const filter = "event:balancer.move";
    const page = await this.#api.request("audit.getRecords", { filter });
    const { records } = page as { readonly records: readonly AuditRecord[] };
    return records.toReversed();
  }

  /** Waits until the balancer of the pool is in this state. @param code of the reason */
  async inState(state: string, code?: string): Promise<Standing> {
    return until(
      () => this.standing(),
      (one) =>
        one.state === state &&
        (code === undefined || one.reason?.code === code),
      `the state, which should be ${state} ${code ?? ""},`,
    );
  }

  /**
   * Waits until there were more than `from` migrations and the pool is balanced: no
   * host is overloaded.
   */
  async balancedAgain(from: number): Promise<void> {
    await until(
      async () => ({
        standing: await this.standing(),
        moves: (await this.doneMoves()).length,
        high: this.hosts().filter(({ cpu }) => cpu > POLICY.cpuHigh),
      }),
      ({ standing: { state }, moves, high }) =>
        moves > from && high.length === 0 && state === "idle",
      "the pool",
    );
  }

  /** CPU of each host that takes VMs, from the loads set for its VMs. */
  hosts(): { readonly host: string; readonly cpu: number }[] {
    const { db } = this.pool;
    return [...db.refs("host")]
      .filter((host) => isUp(db, host))
      .map((host) => {
        const loads = guestsOn(db, host).map((vm) => this.loads.get(vm) ?? 0);
        const cores = (db.get("host", host)["host_CPUs"] as string[]).length;
        return { host, cpu: loads.reduce((a, b) => a + b, 0) / cores };
      });
  }

  /** Cores, by reference, as set last. */
  readonly loads = new Map<string, number>();

  /** Enabled hosts, those with the most vCPUs of VMs first. */
  candidates(): readonly string[] {
    const { db } = this.pool;
    const most = (host: string) =>
      guestsOn(db, host)
        .filter((vm) => mayLeave(db, vm))
        .reduce((sum, vm) => sum + vcpusOf(db, vm), 0);
    return this.hosts()
      .map(({ host }) => ({ host, vcpus: most(host) }))
      .sort((a, b) => b.vcpus - a.vcpus)
      .map(({ host }) => host);
  }

  /** Overloads one host; the others are nearly idle. */
  loadOne(busy: string): void {
    this.load((host) => (host === busy ? 0.9 : 0.1));
    const { cpu } = this.hosts().find(({ host }) => host === busy)!;
    if (cpu < POLICY.cpuHigh + 0.03)
      throw new Error(`its VMs cannot give the host much to do: ${cpu}`);
  }

  /**
   * Sets the CPU load of hosts, 0 to 1, as far as their VMs allow.
   * @param shareOf by the host's reference
   */
  load(shareOf: (host: string) => number): void {
    const { db, sim } = this.pool;
    for (const vm of guestRefs(db)) this.loads.set(vm, 0.02);
    for (const host of db.refs("host")) {
      const cores = (db.get("host", host)["host_CPUs"] as string[]).length;
      let left = shareOf(host) * cores;
      for (const vm of guestsOn(db, host).filter((vm) => mayLeave(db, vm))) {
        const load = Math.max(0.02, Math.min(left, vcpusOf(db, vm) * 0.9));
        left -= load;
        this.loads.set(vm, load);
      }
    }
    for (const [vm, load] of this.loads)
      if (db.find("VM", vm) !== undefined) sim.setLoad(vm, load);
  }

  /**
   * Violations: a migration that is not reported, one to an excluded host, a VM
   * migrated twice within its cooldown.
   * @param others migrations of others than the balancer
   */
  async check(t: Test, others: readonly SeenMove[] = []): Promise<void> {
    const bare = ({ vm, from, to }: Pick<Move, "vm" | "from" | "to">) =>
      `${vm} ${from} ${to}`;
    const { moves, violations } = this.pool.guard;
    t.same(violations, []);
    // Waits until migrations in progress have ended and are recorded.
    await until(
      () => this.standing(),
      ({ state }) => state !== "migrating",
      "the state",
    );
    const own = moves.filter((move) => !others.includes(move));
    const done = await this.doneMoves();
    t.same(
      done.map(bare).toSorted(),
      own.map(bare).toSorted(),
      "the history has all moves",
    );
    const audited = await this.audited();
    t.same(
      audited
        .map(({ data }) => data["parameters"] as Move)
        .map(bare)
        .toSorted(),
      own.map(bare).toSorted(),
      "the audit log has all moves",
    );
    const last = new Map<string, number>();
    for (const { vm, endedAt = 0, startedAt = 0 } of done) {
      const before = last.get(vm);
      if (before !== undefined)
        t.ok(
          startedAt - before >= POLICY.coolDownSeconds * 1000,
          `${vm} was moved again after ${(startedAt - before) / 1000} s`,
        );
      last.set(vm, endedAt);
    }
    for (const { moves, taskId } of await this.runs())
      if (moves.some(({ status }) => status === "done")) t.ok(taskId);
  }

  #request(method: string, params: object = {}): Promise<unknown> {
    return this.#api.request(method, { pool: this.pool.id, ...params });
  }
}
