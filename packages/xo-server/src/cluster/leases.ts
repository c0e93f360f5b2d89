import { pause, type Logger, type MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { LeaseOwner, Store } from "@xo-server/store";
import {
  fairShare,
  inTurn,
  isServerSubject,
  whomToGive,
} from "./fair-share.js";
import { HeldLease } from "./held-lease.js";

/** What acts for a subject while this server has its lease. */
export interface Contender {
  /** Begins to act. */
  readonly onHeld?: (lease: HeldLease) => void;
  /** Acts no more. */
  readonly onLost?: () => void;
  /** Whether another server may get the lease now. Default: always. */
  readonly mayMove?: () => boolean;
}

/** The participation of this server for one subject. */
export interface Contention {
  /** undefined while another server has the lease, or no server. */
  readonly lease: HeldLease | undefined;
  /** Resolves when the first attempt to take the lease has ended. */
  readonly hasTried: Promise<void>;
  /** Asks the owner for the lease. @returns undefined: it was not transferred in time */
  obtain(): Promise<HeldLease | undefined>;
  /** Releases the lease. */
  stop(): Promise<void>;
}

export interface LeasesOptions {
  readonly store: Pick<
    Store["leases"],
    "take" | "renew" | "release" | "request" | "transfer" | "listFree" | "list"
  >;
  readonly self: LeaseOwner;
  /** False (SQLite): there is no other server; leases never expire. */
  readonly isShared: boolean;
  /** Names of the running servers, with this one; empty: this process is not one of them. */
  readonly servers: () => readonly string[];
  /** After this time without renewal another server can take a lease. */
  readonly leaseMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Pick<Logger, "info" | "warn">;
}

interface Entry extends Contender {
  readonly subject: string;
  lease: HeldLease | undefined;
  /** When the lease was first seen free, by the monotonic clock; undefined: another server has it. */
  freeSince: number | undefined;
  isTaking: boolean;
  /** The database has answered an attempt: there is a row of the subject, which is listed when it is free. */
  isKnown: boolean;
  isStopped: boolean;
}

/** Renewals within the time of a lease. */
const RENEWALS = 5;
/** Part of the time of a lease, at its end, in which nothing is sent: a command sent before arrives before the lease expires. */
const SILENT_PART = 0.2;
/** Checks between two that compare the numbers of leases of all servers. */
const SHARE_OUT_EVERY = 10;
/** Intervals of checks for which a free lease is left to servers with fewer leases. */
const LEFT_TO_OTHERS = 2;

/** Leases that are taken at a time: the store has a few connections. */
const TAKEN_AT_ONCE = 4;

/** Takes and renews the leases of this server. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #entries = new Map<string, Entry>();
  /** Subjects that are released as soon as their commands were answered. */
  readonly #ending = new Set<string>();
  #timer: unknown;
  #checks = 0;
  #isRunning = false;
  /** Something has changed since the current check began. */
  #isDue = false;
  #isLeaving = false;
  #isStopped = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Takes the lease of a subject as soon as it is free, and keeps it. */
  compete(subject: string, contender: Contender = {}): Contention {
    const entry: Entry = {
      ...contender,
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
   * Hands over what can move, the rest as soon as it can, and takes nothing any more.
   * The tasks of this server stay here until `stop`. Never rejects.
   */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#handOverMovable().catch((error: unknown) => {
      this.#warn("leases could not be handed over", error);
    });
    if (!this.#isRunning) this.#schedule();
  }

  /** Hands all leases over, as soon as what was sent was answered: other servers take them at once. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    // Unreachable: they expire.
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
      if (++this.#checks % SHARE_OUT_EVERY === 0) await this.#shareOut();
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

  /** Nothing is sent from now on; what was sent is answered before others can take the leases. */
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

  /** At most as long as nothing is sent before a lease expires: a command that is older has arrived. */
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
    this.#timer = clock.setTimeout(() => void this.check(), leaseMs / RENEWALS);
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

  /** Leases that this process has without knowing: the answer to its request was lost. */
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
    this.#options.logger.warn(
      `another server has taken over ${entry.subject}: this one was too slow`,
    );
    this.#lose(entry);
  }

  async #takeFree(): Promise<void> {
    const { store, self, isShared } = this.#options;
    const wanted = [...this.#entries.values()].filter(
      (entry) => !entry.lease && this.#mayTake(entry),
    );
    if (wanted.length === 0) return;
    const free = isShared ? new Set(await store.listFree(self)) : undefined;
    const open = wanted.filter((entry) => {
      const isFree = free?.has(entry.subject) !== false || !entry.isKnown;
      if (!isFree) entry.freeSince = undefined;
      return isFree;
    });
    await this.#takeAll(inTurn(open, self.owner, this.#options.servers()));
  }

  async #takeAll(open: readonly Entry[]): Promise<void> {
    for (let at = 0; at < open.length; at += TAKEN_AT_ONCE) {
      const taken = open
        .slice(at, at + TAKEN_AT_ONCE)
        // One by one: those that are being taken count.
        .flatMap((entry) =>
          this.#isOurTurn(entry) ? [this.#take(entry)] : [],
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

  #isOurTurn(entry: Entry): boolean {
    if (isServerSubject(entry.subject)) return true;
    const subjects = [...this.#entries.values()].filter(
      ({ subject }) => !isServerSubject(subject),
    );
    const own = subjects.filter(
      ({ lease, isTaking }) => isTaking || lease !== undefined,
    ).length;
    const share = fairShare(subjects.length, this.#options.servers().length);
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
        // Another server was faster: there may be another lease for this one.
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

  /** One lease at a time goes to the server that has the fewest, for example one that has just joined. */
  async #shareOut(): Promise<void> {
    const { store, self, servers, isShared } = this.#options;
    if (!isShared || this.#isLeaving || servers().length < 2) return;
    const to = whomToGive(self.owner, servers(), await store.list());
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
    logger.info(`${entry.subject} moves to server ${to}`);
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
    // Database failures are reported by the database itself.
    if (error instanceof XoError && error.code === "STORE_UNAVAILABLE") return;
    this.#options.logger.warn(message, { error });
  }
}
