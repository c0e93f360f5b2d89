import type { Logger, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Adoptable, Store } from "@xo-server/store";
import { serverSubject } from "../cluster/fair-share.js";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Runs } from "../jobs/runs.js";
import type { PendingTask, Tasks } from "../tasks/tasks.js";
import { runsOf, type Recovery } from "./recovery.js";

interface AdoptionOptions {
  readonly store: Pick<
    Store,
    "adoptions" | "leases" | "auditChanges" | "onClusterNotice"
  >;
  readonly cluster: Pick<
    Cluster,
    "self" | "isShared" | "isLeaving" | "serverLease" | "leaseMs"
  >;
  readonly tasks: Pick<Tasks, "load" | "loadAdopted" | "loadDropped">;
  readonly recovery: Pick<Recovery, "recover">;
  readonly runs: Pick<Runs, "abandon" | "interruptDropped">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** Interval of the search, in ms. */
const POLL_MS = 1_000;

/**
 * Adopts the tasks of servers that no longer run: the lease on their tasks has
 * expired or was released. The only server of a database adopts tasks that it
 * started under another name. A server that has lost its lease, and gets it back,
 * continues its own tasks: the server that had taken it over may have ended
 * before it adopted them.
 */
export class Adoption {
  readonly #options: AdoptionOptions;
  /** By server: what was to be adopted when the database did not answer. It may have adopted it nevertheless. */
  readonly #unanswered = new Map<string, Adoptable>();
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
      await this.#continueOwn();
      const { owner } = cluster.self;
      for (const other of await store.adoptions.listOrphanOwners(owner))
        if (!this.#isStopped) await this.#adopt(other);
      await this.#continueUnanswered();
      return true;
    } catch (error) {
      const isExpected = error instanceof XoError && EXPECTED.has(error.code);
      if (!isExpected)
        logger.warn("tasks of other servers could not be adopted", { error });
      return false;
    }
  }

  /**
   * Continues the own tasks that were under way when this server lost its lease, after it has got back a
   * lease. At each check, as a write may be refused only then.
   */
  async #continueOwn(): Promise<void> {
    const { cluster, tasks, runs } = this.#options;
    if (cluster.serverLease().isLost) return;
    const interrupted = await tasks.loadDropped();
    await this.#recover(cluster.self.owner, interrupted, (resumed) =>
      runs.interruptDropped(resumed),
    );
  }

  async #adopt(from: string): Promise<void> {
    const { store, cluster, tasks, runs } = this.#options;
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
      const pending = await store.adoptions.listPending(from);
      const adopted = await store.adoptions
        .adopt(from, self.owner, fences)
        .catch((error: unknown) => {
          this.#unanswered.set(from, pending);
          throw error;
        });
      // A transaction moves all: the one without an answer was not committed.
      if (adopted.tasks.length + adopted.runs.length > 0)
        this.#unanswered.delete(from);
      await this.#recover(from, tasks.load(adopted.tasks), (resumed) =>
        runs.abandon({ ids: adopted.runs }, resumed),
      );
    } finally {
      await store.leases.release(self.instance, [subject]);
    }
  }

  /** Continues what was adopted without an answer; after this it belongs to this server, or to another one. */
  async #continueUnanswered(): Promise<void> {
    const { tasks, runs, cluster } = this.#options;
    const { owner } = cluster.self;
    for (const [from, pending] of this.#unanswered) {
      await cluster.serverLease().untilValid();
      const loaded = await tasks.loadAdopted(pending.tasks);
      this.#unanswered.delete(from);
      await this.#recover(from, loaded, (resumed) =>
        runs.abandon({ owner, ids: pending.runs }, resumed),
      );
    }
  }

  /**
   * @param from the server that had started the tasks
   * @param interruptRuns ends or queues runs of jobs, except those that are resumed
   */
  async #recover(
    from: string,
    interrupted: readonly PendingTask[],
    interruptRuns: (resumed: readonly string[]) => Promise<unknown>,
  ): Promise<void> {
    const { recovery, logger } = this.#options;
    if (interrupted.length > 0)
      logger.info(
        `interrupted tasks of server ${from} that continue here: ${interrupted.length}`,
      );
    await interruptRuns(runsOf(interrupted));
    void recovery.recover(interrupted);
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
