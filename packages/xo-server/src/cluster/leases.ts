import { pause, type Logger, type MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { LeaseOwner, Store } from "@xo-server/store";
import { fairShare, isServerSubject, whomToGive } from "./fair-share.js";
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
  /** Checks in which the lease was free, but left to servers with fewer leases. */
  leftToOthers: number;
  isTaking: boolean;
  isStopped: boolean;
}

/** Renewals within the time of a lease. */
const RENEWALS = 5;
/** Part of the time of a lease, at its end, in which nothing is sent: a command sent before arrives before the lease expires. */
const SILENT_PART = 0.2;
/** Checks between two that compare the numbers of leases of all servers. */
const SHARE_OUT_EVERY = 10;
/** Checks in which a free lease is left to servers with fewer leases. */
const LEFT_TO_OTHERS = 2;

/** Takes and renews the leases of this server. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #entries = new Map<string, Entry>();
  #timer: unknown;
  #checks = 0;
  #isRunning = false;
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
      leftToOthers: LEFT_TO_OTHERS,
      isTaking: false,
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

  /** Hands all leases over, as soon as what was sent has arrived: other servers take them at once. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    const subjects = [...this.#entries.values()].flatMap((entry) =>
      this.#lose(entry) ? [entry.subject] : [],
    );
    const { store, self, isShared, leaseMs, clock } = this.#options;
    if (isShared && subjects.length > 0)
      await pause(clock, leaseMs * SILENT_PART);
    // Unreachable: they expire.
    await store.release(self.instance, subjects).catch(() => undefined);
  }

  /** Renews and takes leases now. Never rejects. */
  async check(): Promise<void> {
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    try {
      if (this.#options.isShared) await this.#renew();
      await this.#takeFree();
      if (++this.#checks % SHARE_OUT_EVERY === 0) await this.#shareOut();
    } catch (error) {
      this.#warn("leases could not be renewed", error);
    }
    this.#isRunning = false;
    this.#schedule();
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
    const wanted = [...this.#entries.values()].filter(({ lease }) => !lease);
    if (wanted.length === 0) return;
    const free = isShared ? new Set(await store.listFree(self)) : undefined;
    for (const entry of wanted)
      if (free?.has(entry.subject) === false) entry.leftToOthers = 0;
      else if (this.#isOurTurn(entry)) await this.#take(entry);
  }

  #isOurTurn(entry: Entry): boolean {
    if (isServerSubject(entry.subject)) return true;
    const subjects = [...this.#entries.values()].filter(
      ({ subject }) => !isServerSubject(subject),
    );
    const own = subjects.filter(({ lease }) => lease).length;
    const share = fairShare(subjects.length, this.#options.servers().length);
    return own < share || entry.leftToOthers++ >= LEFT_TO_OTHERS;
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
    const isOver = () => entry.isStopped || this.#isStopped;
    if (isOver() || entry.isTaking || servers().length === 0) return;
    entry.isTaking = true;
    try {
      const lease = await this.#request(entry.subject);
      if (lease === undefined) return;
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
      if (lease !== undefined || clock.now() >= until || entry.isStopped)
        return lease;
      await store.request(entry.subject, self.owner);
      await pause(clock, leaseMs / RENEWALS / 2);
    }
  }

  async #stop(entry: Entry): Promise<void> {
    entry.isStopped = true;
    this.#entries.delete(entry.subject);
    if (this.#lose(entry)) await this.#release(entry.subject);
  }

  /** One lease at a time goes to the server that has the fewest, for example one that has just joined. */
  async #shareOut(): Promise<void> {
    const { store, self, servers, isShared } = this.#options;
    if (!isShared || servers().length < 2) return;
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

  /** @returns whether the server had it */
  #lose(entry: Entry): boolean {
    const { lease } = entry;
    if (lease === undefined) return false;
    entry.lease = undefined;
    lease.lose();
    entry.onLost?.();
    return true;
  }

  #warn(message: string, error: unknown): void {
    // Database failures are reported by the database itself.
    if (error instanceof XoError && error.code === "STORE_UNAVAILABLE") return;
    this.#options.logger.warn(message, { error });
  }
}
