import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import {
  startFast,
  type FastPool,
  type FastPools,
} from "../placement/fast-pools.js";
import type { Phase } from "./phases.js";
import { PoolLog } from "./pool-log.js";

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
/** Calls whose answers never come end soon; a pool that answers again is connected at once. */
const XAPI = "callTimeoutMs: 6000, backoff: { maxMs: 500 }";
/** All of its VMs can be migrated. */
const SIZE = { hosts: 4, vms: 8, seed: 1, pace: 0.2 };

/** A pool with HA and a server in this process, and a log of its VMs. */
export class WatchedUpdate {
  readonly #started: FastPools;
  readonly log: PoolLog;
  readonly #hosts: readonly string[];
  readonly #injections: Promise<unknown>[] = [];
  #task: Promise<string> = Promise.resolve("");

  static async start(t: Test, factor = FACTOR): Promise<WatchedUpdate> {
    const started = await startFast(t, { factor, xapi: XAPI }, SIZE);
    const { api, pools } = started;
    const shared = await api.all({ type: "SR", shared: true });
    const sr = shared.find((one) => one["content_type"] === "user")!;
    await api.request("pool.enableHa", {
      pool: pools[0]!.id,
      heartbeatSrs: [sr.id],
    });
    return new WatchedUpdate(started);
  }

  private constructor(started: FastPools) {
    this.#started = started;
    const { db } = this.pool;
    this.log = new PoolLog(db);
    const [[, { master }]] = [...db.records("pool")] as [
      [string, { readonly master: string }],
    ];
    const others = [...db.refs("host")].filter((ref) => ref !== master);
    this.#hosts = [master, ...others.sort()];
  }

  get pool(): FastPool {
    return this.#started.pools[0]!;
  }

  get api(): FastPools["api"] {
    return this.#started.api;
  }

  /** References of all hosts; the first is the coordinator at the beginning. */
  get hosts(): readonly string[] {
    return this.#hosts;
  }

  /** Injects a fault once, when the pool receives the call of a phase. */
  injectAt(
    { method, host, isReached }: Phase,
    inject: () => unknown,
  ): { readonly wasInjected: () => boolean } {
    let wasInjected = false;
    const wait = () => {
      this.pool.sim.whenCalled(method, onCall, {
        ...(host && { object: this.#hosts[host === "second" ? 1 : 0]! }),
      });
    };
    const onCall = () => {
      if (isReached?.(this) === false) {
        wait();
        return;
      }
      wasInjected = true;
      const injected = Promise.resolve().then(inject);
      injected.catch(() => undefined); // `ended` rejects with it
      this.#injections.push(injected);
    };
    wait();
    return { wasInjected: () => wasInjected };
  }

  begin(options: object = {}): Promise<string> {
    this.#task = this.#begin(options);
    return this.#task;
  }

  /** The id of the task, when it is known. */
  get taskId(): Promise<string> {
    return this.#task;
  }

  async #begin(options: object): Promise<string> {
    const path = `/pools/${this.pool.id}/actions/rolling_update`;
    const begun = await this.api.rest("POST", path, options);
    return ((await begun.json()) as { taskId: string }).taskId;
  }

  async ended(): Promise<UpdateTask> {
    const path = `/tasks/${await this.#task}?wait=true`;
    const answer = await this.api.rest("GET", path);
    const task = (await answer.json()) as UpdateTask;
    await Promise.all(this.#injections);
    return task;
  }

  /**
   * Differences from the state before the update; empty: none is worse. Waits,
   * because some of the state is restored in the background.
   */
  async worse({
    mayBeDown = [],
    disablesHa = false,
  }: {
    /** References of hosts that a fault has made unavailable. */
    readonly mayBeDown?: readonly string[];
    readonly disablesHa?: boolean;
  } = {}): Promise<readonly string[]> {
    const { db } = this.pool;
    const look = (): readonly string[] => {
      const running = new Set(this.log.running());
      const [[, pool]] = [...db.records("pool")] as [
        [string, Readonly<Record<string, unknown>>],
      ];
      return [
        ...this.log.watched
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
        const list = await this.api.request("pool.listMissingPatches", {
          host: id,
        });
        return (list as unknown[]).length > 0 ? [String(name_label)] : [];
      }),
    );
    return missing.flat();
  }

  /** Ends all faults: later failures are defects. */
  clearFaults(): void {
    const { sim } = this.pool;
    sim.faults.clear();
    sim.injectedErrors.clear();
  }
}
