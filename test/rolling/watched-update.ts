import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import {
  startFast,
  type FastPool,
  type FastPools,
} from "../placement/fast-pools.js";
import { guestRefs } from "../placement/pool-guard.js";

/** The steps of a host, as its task names them. */
export type Step =
  | "evacuate"
  | "install updates"
  | "reboot"
  | "wait for the host"
  | "verify the host"
  | "restore HA and auto power-on";

interface Part {
  readonly status: string;
  readonly properties: { readonly name: string };
  readonly tasks?: readonly Part[];
}

/** The task of an update, when it has ended. */
export interface UpdateTask extends Part {
  readonly result?: {
    readonly code?: string;
    readonly message?: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

const FACTOR = 20;
/** All of its VMs can be migrated. */
const SIZE = { hosts: 4, vms: 8, seed: 1 };
/** Steps that are too short to be observed take so many ms longer. */
const SLOWED: Readonly<Partial<Record<Step, readonly [string, number]>>> = {
  "verify the host": ["host.get_enabled", 6_000],
  reboot: ["host.reboot", 4_000],
  "restore HA and auto power-on": ["pool.enable_ha", 6_000],
};

/** A pool with HA and a server, in this process, and what becomes of its VMs. */
export class WatchedUpdate {
  readonly #started: FastPools;
  /** VMs that ran at first and were seen in another state. */
  readonly lost: string[] = [];
  readonly #running: ReadonlySet<string>;
  #taskId = "";

  static async start(t: Test): Promise<WatchedUpdate> {
    const started = await startFast(t, { factor: FACTOR }, SIZE);
    const { api, pools } = started;
    const shared = await api.all({ type: "SR", shared: true });
    const sr = shared.find((one) => one["content_type"] === "user")!;
    await api.ask("pool.enableHa", {
      pool: pools[0]!.id,
      heartbeatSrs: [sr.id],
    });
    return new WatchedUpdate(started);
  }

  private constructor(started: FastPools) {
    this.#started = started;
    const { db } = this.pool;
    this.#running = new Set(this.#refsRunning());
    db.onChange(({ operation, className, ref }) => {
      if (className !== "VM" || !this.#running.has(ref)) return;
      const state =
        operation === "del" ? "deleted" : db.get("VM", ref)["power_state"];
      if (state !== "Running")
        this.lost.push(`${ref}: ${JSON.stringify(state)}`);
    });
  }

  get pool(): FastPool {
    return this.#started.pools[0]!;
  }

  get api(): FastPools["api"] {
    return this.#started.api;
  }

  /** References of all hosts; the first is the coordinator. */
  hosts(): readonly string[] {
    const { db } = this.pool;
    const [[, { master }]] = [...db.records("pool")] as [
      [string, { readonly master: string }],
    ];
    const others = [...db.refs("host")].filter((ref) => ref !== master);
    return [master, ...others.sort()];
  }

  /** @param at the step that is to be observed */
  async begin(at?: Step): Promise<void> {
    const slowed = at && SLOWED[at];
    if (slowed !== undefined)
      this.pool.sim.slowNext(slowed[0], slowed[1], { times: 4 });
    const path = `/pools/${this.pool.id}/actions/rolling_update`;
    const begun = await this.api.rest("POST", path, {});
    const { taskId } = (await begun.json()) as { taskId: string };
    this.#taskId = taskId;
  }

  get taskId(): string {
    return this.#taskId;
  }

  /** When a host of the n-th wave is at this step. @throws Error when the update has ended before */
  async until(step: Step, wave: number): Promise<void> {
    for (;;) {
      const task = await this.#task();
      const { tasks: parts = [] } = task;
      const isOfRun = step === "restore HA and auto power-on";
      const within = isOfRun ? parts : (parts[wave]?.tasks ?? []);
      if (within.some((part) => isAt(part, step))) return;
      if (task.status !== "pending")
        throw new Error(`${step} was not seen: ${JSON.stringify(task)}`);
    }
  }

  async ended(): Promise<UpdateTask> {
    return this.#task("?wait=true");
  }

  async #task(query = ""): Promise<UpdateTask> {
    const answer = await this.api.rest("GET", `/tasks/${this.#taskId}${query}`);
    return (await answer.json()) as UpdateTask;
  }

  /** What is not as before the update; empty: nothing is worse. Waits, as some of it is restored in the background. */
  async worse({
    mayBeDown = [],
    disablesHa = false,
  }: {
    /** References of hosts that a fault has taken. */
    readonly mayBeDown?: readonly string[];
    readonly disablesHa?: boolean;
  } = {}): Promise<readonly string[]> {
    const { db } = this.pool;
    const look = (): readonly string[] => {
      const running = new Set(this.#refsRunning());
      const [[, pool]] = [...db.records("pool")] as [
        [string, Readonly<Record<string, unknown>>],
      ];
      return [
        ...[...this.#running]
          .filter((ref) => !running.has(ref))
          .map((ref) => `VM ${ref} does not run`),
        ...[...db.records("host")]
          .filter(([ref]) => !mayBeDown.includes(ref))
          .filter(([, host]) => host["enabled"] !== true)
          .map(([ref]) => `host ${ref} is disabled`),
        ...(pool["ha_enabled"] === true || disablesHa
          ? []
          : ["HA is disabled"]),
      ];
    };
    for (let tries = 0; tries < 100 && look().length > 0; tries++)
      await pause(50);
    return look();
  }

  /** Names of hosts with missing updates. */
  async notUpdated(): Promise<readonly string[]> {
    const hosts = await this.api.all({ type: "host" });
    const missing = await Promise.all(
      hosts.map(async ({ id, name_label }) => {
        const list = await this.api.ask("pool.listMissingPatches", {
          host: id,
        });
        return (list as unknown[]).length > 0 ? [String(name_label)] : [];
      }),
    );
    return missing.flat();
  }

  /** Ends all faults: what strikes from now on is a defect. */
  clearFaults(): void {
    const { sim } = this.pool;
    sim.faults.clear();
    sim.injectedErrors.clear();
  }

  #refsRunning(): readonly string[] {
    const { db } = this.pool;
    return guestRefs(db).filter(
      (ref) => db.get("VM", ref)["power_state"] === "Running",
    );
  }
}

function isAt(part: Part, step: Step): boolean {
  if (part.status !== "pending") return false;
  return (
    part.properties.name === step ||
    (part.tasks ?? []).some((one) => isAt(one, step))
  );
}
