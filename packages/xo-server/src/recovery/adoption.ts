import type { Logger, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { serverSubject } from "../cluster/fair-share.js";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Runs } from "../jobs/runs.js";
import type { Tasks } from "../tasks/tasks.js";
import { runsOf, type Recovery } from "./recovery.js";

export interface AdoptionOptions {
  readonly store: Pick<
    Store,
    "adoptions" | "leases" | "auditChanges" | "onClusterNotice"
  >;
  readonly cluster: Pick<
    Cluster,
    "self" | "isShared" | "isLeaving" | "serverLease" | "leaseMs"
  >;
  readonly tasks: Pick<Tasks, "load">;
  readonly recovery: Pick<Recovery, "recover">;
  readonly runs: Pick<Runs, "interrupt">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** Interval of the search, in ms. */
const POLL_MS = 1_000;

/**
 * Adopts the tasks of servers that no longer run: the lease on their tasks has
 * expired or was released. The only server of a database adopts tasks that it
 * started under another name.
 */
export class Adoption {
  readonly #options: AdoptionOptions;
  #timer: unknown;
  #checking: Promise<void> = Promise.resolve();
  #stopListening: (() => void) | undefined;
  #isChecking = false;
  #isStopped = false;

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopListening ??= this.#options.store.onClusterNotice(() => {
      this.#wake();
    });
    this.#checkAndSchedule();
  }

  /** Checks immediately, because a server may have released its tasks. */
  #wake(): void {
    if (this.#isStopped || this.#isChecking) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#checkAndSchedule();
  }

  #checkAndSchedule(): void {
    const { clock, cluster } = this.#options;
    this.#isChecking = true;
    this.#checking = this.#check().then((isDone) => {
      this.#isChecking = false;
      const isLast = isDone && !cluster.isShared;
      if (this.#isStopped || isLast) return;
      this.#timer = clock.setTimeout(() => {
        this.#checkAndSchedule();
      }, POLL_MS);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening?.();
    this.#options.clock.clearTimeout(this.#timer);
    await this.#checking;
  }

  /** @returns false: the database is unavailable */
  async #check(): Promise<boolean> {
    const { store, cluster, logger } = this.#options;
    // This server is leaving: it would have to hand the tasks over again.
    if (cluster.isLeaving) return true;
    try {
      const { owner } = cluster.self;
      for (const other of await store.adoptions.listOrphanOwners(owner))
        if (!this.#isStopped) await this.#adopt(other);
      return true;
    } catch (error) {
      const isExpected = error instanceof XoError && EXPECTED.has(error.code);
      if (!isExpected)
        logger.warn("tasks of other servers could not be adopted", { error });
      return false;
    }
  }

  async #adopt(from: string): Promise<void> {
    const { store, cluster, tasks, recovery, runs, logger } = this.#options;
    const { self, isShared, leaseMs, serverLease } = cluster;
    const own = serverLease();
    await own.untilValid();
    const subject = serverSubject(from);
    const taken = await store.leases.take(
      subject,
      self,
      isShared ? leaseMs : 0,
    );
    // Another server has adopted the tasks first, or their server has returned.
    if (taken === undefined) return;
    try {
      await store.auditChanges.endInterrupted(from);
      const fences = [taken, own.fence];
      const adopted = await store.adoptions.adopt(from, self.owner, fences);
      const interrupted = tasks.load(adopted.tasks);
      if (interrupted.length > 0)
        logger.info(
          `interrupted tasks of server ${from} that continue here: ${interrupted.length}`,
        );
      await runs.interrupt({ ids: adopted.runs }, runsOf(interrupted));
      void recovery.recover(interrupted);
    } finally {
      await store.leases.release(self.instance, [subject]);
    }
  }
}

/**
 * Errors that others report: the database reports its failures; a server without
 * its lease does not adopt.
 */
const EXPECTED: ReadonlySet<string> = new Set([
  "STORE_UNAVAILABLE",
  "LEASE_LOST",
]);
