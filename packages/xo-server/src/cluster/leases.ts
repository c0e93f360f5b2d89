import { pause, type Logger, type MonotonicClock } from "@xo-server/kit";
import type { LeaseOwner, Store } from "@xo-server/store";
import {
  fairShare,
  inServerOrder,
  isServerSubject,
  leastLoadedServer,
} from "./fair-share.js";
import type { Contention, LeaseHandlers } from "./contention.js";
import { FreeLeases } from "./free-leases.js";
import { HeldLease } from "./held-lease.js";
import { warnUnlessUnavailable } from "../status/store-unavailable.js";

interface LeasesOptions {
  readonly store: Pick<
    Store["leases"],
    "take" | "renew" | "release" | "request" | "transfer" | "listFree" | "list"
  >;
  readonly self: LeaseOwner;
  /** False (SQLite): this is the only server; leases never expire. */
  readonly isShared: boolean;
  /** Names of the running servers, with this one; empty: this process is not one of them. */
  readonly servers: () => readonly string[];
  /** After this time without renewal another server can take a lease. */
  readonly leaseMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Pick<Logger, "info" | "warn">;
}

interface Entry extends LeaseHandlers {
  readonly subject: string;
  lease: HeldLease | undefined;
  /** When the lease was first found free, by the monotonic clock; undefined: another server has it. */
  freeSince: number | undefined;
  isTaking: boolean;
  /** An attempt was answered: the subject has a row, which listings of free leases include. */
  isKnown: boolean;
  isStopped: boolean;
}

/** Renewals within the time of a lease. */
const RENEWALS = 5;
/** Part of the lease time, at its end, in which no command is sent: commands sent before it arrive before the lease expires. */
const SILENT_PART = 0.2;
/** Number of checks after which the numbers of leases of all servers are compared. */
const REBALANCE_EVERY = 10;
/** A free lease is left to servers with fewer leases for this number of check intervals. */
const LEFT_TO_OTHERS = 2;

/** Number of leases taken in parallel: the store has few connections. */
const MAX_PARALLEL = 4;

/** Takes and renews the leases of this server. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #free: FreeLeases;
  readonly #entries = new Map<string, Entry>();
  /** Subjects whose leases are released when the responses to their commands have arrived. */
  readonly #ending = new Set<string>();
  #timer: unknown;
  #checks = 0;
  #isRunning = false;
  /** A change was reported after the current check began. */
  #isDue = false;
  #isLeaving = false;
  #isStopped = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#free = new FreeLeases(options);
  }

  /** Takes the lease on a subject as soon as it is free, and renews it. */
  compete(subject: string, handlers: LeaseHandlers = {}): Contention {
    const entry: Entry = {
      ...handlers,
      subject,
      lease: undefined,
      freeSince: -Infinity,
      isTaking: false,
      isKnown: false,
      isStopped: false,
    };
    this.#entries.set(subject, entry);
    const hasTried = this.#try(entry);
    return {
      hasTried,
      get lease() {
        return entry.lease;
      },
      obtain: () => this.#obtain(entry),
      stop: () => this.#stop(entry),
    };
  }

  /**
   * Hands over the leases that may move now, the others when they may, and takes no
   * new ones. The lease on the tasks of this server stays until `stop`. Never rejects.
   */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#handOverMovable().catch((error: unknown) => {
      this.#warn("leases could not be handed over", error);
    });
    if (!this.#isRunning) this.#schedule();
  }

  /** Hands all leases over when the responses to all commands have arrived: other servers can take them immediately. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    // If the database is unreachable, the leases expire.
    await this.#handOver([...this.#entries.values()]).catch(() => undefined);
  }

  /** Renews and takes leases now. Never rejects. */
  async check(): Promise<void> {
    this.#isDue = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false;
      await this.#checkOnce();
    }
    this.#isRunning = false;
    this.#schedule();
  }

  async #checkOnce(): Promise<void> {
    try {
      if (this.#options.isShared) await this.#renew();
      if (this.#isLeaving) await this.#handOverMovable();
      await this.#takeFree();
      if (++this.#checks % REBALANCE_EVERY === 0) await this.#rebalance();
    } catch (error) {
      this.#warn("leases could not be renewed", error);
    }
  }

  async #handOverMovable(): Promise<void> {
    const entries = [...this.#entries.values()];
    await this.#handOver(
      entries.filter(
        ({ subject, mayMove }) =>
          !isServerSubject(subject) && mayMove?.() !== false,
      ),
    );
  }

  /** Sends no more commands, and waits for the responses before other servers can take the leases. */
  async #handOver(entries: readonly Entry[]): Promise<void> {
    const leases = entries.flatMap((entry) => this.#lose(entry) ?? []);
    if (leases.length === 0) return;
    const subjects = leases.map(({ fence }) => fence.subject);
    for (const subject of subjects) this.#ending.add(subject);
    try {
      await this.#untilAnswered(leases);
      const { store, self } = this.#options;
      await store.release(self.instance, subjects);
    } finally {
      // After a failure the next check finds and releases them.
      for (const subject of subjects) this.#ending.delete(subject);
    }
  }

  /** Waits at most for the silent part of a lease: older commands have arrived by then. */
  async #untilAnswered(leases: readonly HeldLease[]): Promise<void> {
    const { isShared, leaseMs, clock } = this.#options;
    if (!isShared) return;
    let limit: unknown;
    await Promise.race([
      Promise.all(leases.map((lease) => lease.answered())),
      new Promise<void>((resolve) => {
        limit = clock.setTimeout(resolve, leaseMs * SILENT_PART);
      }),
    ]);
    clock.clearTimeout(limit);
  }

  #schedule(): void {
    const { clock, isShared, leaseMs } = this.#options;
    clock.clearTimeout(this.#timer);
    const isWaiting = [...this.#entries.values()].some(({ lease }) => !lease);
    if (this.#isStopped || (!isShared && !isWaiting)) return;
    const waitMs = Math.min(leaseMs / RENEWALS, this.#free.nextExpiryMs);
    this.#timer = clock.setTimeout(() => void this.check(), waitMs);
  }

  async #renew(): Promise<void> {
    const { store, self, leaseMs, clock } = this.#options;
    const held = [...this.#entries.values()].filter(({ lease }) => lease);
    const before = held.map((entry) => ({ entry, lease: entry.lease! }));
    // Read before the request: the lease expires later than this server counts.
    const at = clock.now();
    const renewed = await store.renew(self.instance, leaseMs);
    for (const { entry, lease } of before) {
      if (entry.lease !== lease) continue;
      const row = renewed.get(entry.subject);
      if (row?.epoch !== lease.fence.epoch) this.#onTaken(entry);
      else {
        lease.renew(at + leaseMs * (1 - SILENT_PART));
        if (row.requestedBy !== undefined)
          await this.#transfer(entry, row.requestedBy);
      }
    }
    await this.#releaseStray([...renewed.keys()]);
  }

  /** Releases leases of this process that it does not know of, because a response was lost. */
  async #releaseStray(renewed: readonly string[]): Promise<void> {
    const stray = renewed.filter((subject) => {
      const entry = this.#entries.get(subject);
      if (this.#ending.has(subject)) return false;
      return entry === undefined || !(entry.lease || entry.isTaking);
    });
    const { store, self } = this.#options;
    if (stray.length > 0) await store.release(self.instance, stray);
  }

  #onTaken(entry: Entry): void {
    const seconds = Math.round(entry.lease!.expiredForMs / 1_000);
    this.#options.logger.warn(
      `another server has taken over ${entry.subject}: the lease of this one expired ${seconds} s ago`,
    );
    this.#lose(entry);
  }

  async #takeFree(): Promise<void> {
    const { self, servers, isShared, leaseMs } = this.#options;
    const requested = [...this.#entries.values()].filter(
      (entry) => !entry.lease && this.#mayTake(entry),
    );
    if (requested.length === 0) return;
    if (!isShared) return this.#takeAll(requested, servers());
    const free = await this.#free.read(leaseMs / RENEWALS);
    const open = requested.filter((entry) => {
      const isFree = free.subjects.has(entry.subject) || !entry.isKnown;
      if (!isFree) entry.freeSince = undefined;
      return isFree;
    });
    const ordered = inServerOrder(open, self.owner, free.servers);
    await this.#takeAll(ordered, free.servers);
  }

  async #takeAll(
    open: readonly Entry[],
    running: readonly string[],
  ): Promise<void> {
    for (let at = 0; at < open.length; at += MAX_PARALLEL) {
      const taken = open
        .slice(at, at + MAX_PARALLEL)
        // One after another, because leases that are being taken count.
        .flatMap((entry) =>
          this.#isOurTurn(entry, running) ? [this.#take(entry)] : [],
        );
      const outcomes = await Promise.allSettled(taken);
      for (const outcome of outcomes)
        if (outcome.status === "rejected") throw outcome.reason;
    }
  }

  #mayTake({ subject }: Entry): boolean {
    if (this.#isStopped || this.#ending.has(subject)) return false;
    return !this.#isLeaving || isServerSubject(subject);
  }

  #isOurTurn(entry: Entry, running: readonly string[]): boolean {
    if (isServerSubject(entry.subject)) return true;
    const subjects = [...this.#entries.values()].filter(
      ({ subject }) => !isServerSubject(subject),
    );
    const own = subjects.filter(
      ({ lease, isTaking }) => isTaking || lease !== undefined,
    ).length;
    const share = fairShare(subjects.length, running.length);
    const { clock, leaseMs } = this.#options;
    entry.freeSince ??= clock.now();
    const freeFor = clock.now() - entry.freeSince;
    return own < share || freeFor >= (LEFT_TO_OTHERS * leaseMs) / RENEWALS;
  }

  async #try(entry: Entry): Promise<void> {
    try {
      await this.#take(entry);
    } catch (error) {
      this.#warn(`the lease on ${entry.subject} could not be taken`, error);
    }
    if (!this.#isRunning) this.#schedule();
  }

  async #take(entry: Entry): Promise<void> {
    const { servers } = this.#options;
    const isOver = () => entry.isStopped || !this.#mayTake(entry);
    if (isOver() || entry.isTaking || servers().length === 0) return;
    entry.isTaking = true;
    try {
      const lease = await this.#request(entry.subject);
      entry.isKnown = true;
      if (lease === undefined) {
        entry.freeSince = undefined;
        // Another server was faster; this one may take another lease.
        this.#isDue = true;
        return;
      }
      if (isOver() || entry.lease !== undefined)
        await this.#release(entry.subject);
      else {
        entry.lease = lease;
        entry.onHeld?.(lease);
      }
    } finally {
      entry.isTaking = false;
    }
  }

  async #request(subject: string): Promise<HeldLease | undefined> {
    const { store, self, leaseMs, isShared, clock } = this.#options;
    const at = clock.now();
    const fence = await store.take(subject, self, isShared ? leaseMs : 0);
    const until = isShared ? at + leaseMs * (1 - SILENT_PART) : Infinity;
    return fence && new HeldLease(fence, clock, until);
  }

  async #release(subject: string): Promise<void> {
    const { store, self } = this.#options;
    await store.release(self.instance, [subject]);
  }

  async #obtain(entry: Entry): Promise<HeldLease | undefined> {
    const { store, self, leaseMs, clock } = this.#options;
    const until = clock.now() + leaseMs;
    for (;;) {
      if (entry.lease === undefined) await this.#take(entry);
      const { lease } = entry;
      const isOver = entry.isStopped || !this.#mayTake(entry);
      if (lease !== undefined || clock.now() >= until || isOver) return lease;
      await store.request(entry.subject, self.owner);
      await pause(clock, leaseMs / RENEWALS / 2);
    }
  }

  async #stop(entry: Entry): Promise<void> {
    entry.isStopped = true;
    this.#entries.delete(entry.subject);
    await this.#handOver([entry]);
  }

  /** Transfers one lease to the server that has the fewest, for example one that has just joined. */
  async #rebalance(): Promise<void> {
    const { store, self, servers, isShared, leaseMs } = this.#options;
    if (!isShared || this.#isLeaving || servers().length < 2) return;
    const all = await store.list();
    const to = leastLoadedServer(self.owner, servers(), all, leaseMs);
    if (to === undefined) return;
    for (const entry of this.#entries.values()) {
      const isOurs = entry.lease !== undefined;
      if (!isOurs || isServerSubject(entry.subject)) continue;
      if (await this.#transfer(entry, to)) return;
    }
  }

  /** @returns false: it must stay here now */
  async #transfer(entry: Entry, to: string): Promise<boolean> {
    const { store, self, leaseMs, logger } = this.#options;
    const { lease } = entry;
    if (lease === undefined || entry.mayMove?.() === false) return false;
    this.#lose(entry);
    logger.info(`the lease of ${entry.subject} is handed over to server ${to}`);
    const { instance } = self;
    await store.transfer(lease.fence, { instance, to }, leaseMs);
    return true;
  }

  /** @returns the lease that the server had */
  #lose(entry: Entry): HeldLease | undefined {
    const { lease } = entry;
    if (lease === undefined) return undefined;
    entry.lease = undefined;
    lease.lose();
    entry.onLost?.();
    return lease;
  }

  #warn(message: string, error: unknown): void {
    warnUnlessUnavailable(this.#options.logger, message, error);
  }
}
