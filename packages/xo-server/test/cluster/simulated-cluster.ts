import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Fence, LeaseOwner } from "@xo-server/store";
import type { HeldLease } from "../../src/cluster/held-lease.js";
import { AwakeClock } from "../../src/cluster/awake-clock.js";
import { Leases } from "../../src/cluster/leases.js";
import { LeaseDatabase, type LeaseStore } from "./lease-database.js";

/** Time of a lease, in ms. */
const LEASE_MS = 5_000;
/** Less than the part of a lease in which nothing is sent, minus what clocks drift. */
const MAX_DELAY_MS = 700;
/** Clocks of servers run faster or slower by up to this. */
const MAX_DRIFT = 0.02;
/** Answers, and calls without one, are lost for a direction of the network. */
export type Cut = "requests" | "answers" | "both";
const SUBJECTS = ["a", "b"];
const ACTIONS = 4;
/** Turns in which what follows from one event is done. */
const TURNS = 16;

interface SimulatedEvent {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** Time, chance, the database and the pool of one history. */
export class World {
  now = 0;
  /** Actions that the pool has carried out, in order. */
  readonly done: string[] = [];
  /** Steps of which the database has acknowledged the write. */
  readonly acknowledged = new Set<string>();
  /** Steps in the database: `<action> begun` and `<action> done`. */
  readonly steps = new Set<string>();
  /** Epochs of the accepted writes of each subject, in order. */
  readonly epochs = new Map<string, number[]>();
  isDatabaseDown = false;
  /** What the clock of the database differs by: that of a standby that has taken over, or one that was set. */
  databaseOffset = 0;
  readonly leases = new LeaseDatabase(() => this.now + this.databaseOffset);
  readonly #events: SimulatedEvent[] = [];
  #order = 0;
  #seed: number;

  constructor(seed: number) {
    this.#seed = (seed * 2_654_435_761 + 12_345) % 2 ** 32;
  }

  /** 0 to 1: mulberry32. */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  in(ms: number, run: () => void): SimulatedEvent {
    const event = { at: this.now + ms, order: this.#order++, run };
    this.#events.push(event);
    return event;
  }

  cancel(event: unknown): void {
    const index = this.#events.indexOf(event as SimulatedEvent);
    if (index >= 0) this.#events.splice(index, 1);
  }

  async runUntil(end: number, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const next = this.#takeNext();
      if (next === undefined || next.at > end) return;
      this.now = next.at;
      next.run();
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
    }
  }

  /** @throws XoError LEASE_LOST */
  write(step: string, fence: Fence): void {
    this.leases.check(fence);
    this.steps.add(step);
    const epochs = this.epochs.get(fence.subject) ?? [];
    epochs.push(fence.epoch);
    this.epochs.set(fence.subject, epochs);
  }

  get isComplete(): boolean {
    return SUBJECTS.every((subject) =>
      actionsOf(subject).every((action) => this.steps.has(`${action} done`)),
    );
  }

  #takeNext(): SimulatedEvent | undefined {
    let first = 0;
    for (let i = 1; i < this.#events.length; i++) {
      const [a, b] = [this.#events[i]!, this.#events[first]!];
      if (a.at < b.at || (a.at === b.at && a.order < b.order)) first = i;
    }
    return this.#events.splice(first, 1)[0];
  }
}

export function actionsOf(subject: string): string[] {
  return Array.from({ length: ACTIONS }, (_, i) => `${subject}${i}`);
}

/** A process of a server that works off the actions of the subjects that it owns. */
export class SimulatedServer {
  readonly name: string;
  readonly instance: string;
  readonly #world: World;
  readonly #rate: number;
  readonly #leases: Leases;
  /** Subjects with an action under way. */
  readonly #busy = new Set<string>();
  #isDead = false;
  /** Time at which it was killed, or frozen last. */
  #stoppedAt: number | undefined;
  #frozenUntil = 0;
  /** The machine is suspended: its monotonic clock does not continue. */
  #suspension = { from: 0, until: 0 };
  /** Of suspensions that have ended. */
  #suspendedMs = 0;
  #wallOffset = 0;
  #wallSetAt = -Infinity;
  readonly #cutUntil = { requests: 0, answers: 0 };

  constructor(world: World, name: string, instance: string, all: string[]) {
    this.name = name;
    this.instance = instance;
    this.#world = world;
    this.#rate = 1 + (world.random() * 2 - 1) * MAX_DRIFT;
    const quiet = { info: () => undefined, warn: () => undefined };
    this.#leases = new Leases({
      store: this.#remote({ owner: name, instance }),
      self: { owner: name, instance },
      isShared: true,
      servers: () => all,
      leaseMs: LEASE_MS,
      clock: this.#clock,
      logger: quiet,
    });
    for (const subject of SUBJECTS)
      this.#leases.compete(subject, {
        onHeld: (lease) => void this.#work(lease).catch(() => undefined),
        mayMove: () => !this.#busy.has(subject),
      });
  }

  /** kill -9 */
  kill(): void {
    this.#isDead = true;
    this.#stoppedAt ??= this.#world.now;
  }

  /** The process has ended. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** A new process does not start beside one that runs. */
  get mayBeReplaced(): boolean {
    const { now } = this.#world;
    const stoppedFor = now - (this.#stoppedAt ?? now);
    return this.#isDead
      ? stoppedFor >= 1_000
      : this.#frozenUntil > now && stoppedFor > LEASE_MS;
  }

  /** SIGTERM */
  async leave(): Promise<void> {
    await this.#leases.stop();
    this.kill();
  }

  /** SIGSTOP, later SIGCONT */
  freeze(ms: number): void {
    if (this.#frozenUntil < this.#world.now) this.#stoppedAt = this.#world.now;
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#world.now + ms);
  }

  /** A VM that is saved and resumed. */
  suspend(ms: number): void {
    const { now } = this.#world;
    const isSet = now - this.#wallSetAt < LEASE_MS;
    if (this.#suspension.until > now || isSet) return;
    this.#suspendedMs += this.#suspension.until - this.#suspension.from;
    this.#suspension = { from: now, until: now + ms };
    this.freeze(ms);
  }

  /** The clock of the machine is set; not covered: back, at the same time as it is suspended. */
  setWallClock(stepMs: number): void {
    const { now } = this.#world;
    if (this.#suspension.until > now) return;
    this.#wallOffset += stepMs;
    this.#wallSetAt = now;
  }

  /** No packets from this server to the database, from it, or in both directions. */
  cut(ms: number, direction: Cut): void {
    const until = this.#world.now + ms;
    if (direction !== "answers") this.#cutUntil.requests = until;
    if (direction !== "requests") this.#cutUntil.answers = until;
  }

  /** By the clocks of the machine. */
  #awakeMs(): number {
    const { now } = this.#world;
    const { from, until } = this.#suspension;
    return now - this.#suspendedMs - (Math.min(now, until) - from);
  }

  get #clock(): MonotonicClock {
    const wall = { now: () => this.#world.now + this.#wallOffset };
    return new AwakeClock(this.#monotonicClock, wall);
  }

  get #monotonicClock(): MonotonicClock {
    const world = this.#world;
    return {
      now: () => this.#awakeMs() * this.#rate,
      setTimeout: (callback, ms) =>
        world.in(ms / this.#rate, () => {
          this.#run(callback);
        }),
      clearTimeout: (handle) => {
        world.cancel(handle);
      },
    };
  }

  /** A frozen process does it when it continues, a killed one never. */
  #run(callback: () => void): void {
    const wait = this.#frozenUntil - this.#world.now;
    if (this.#isDead) return;
    if (wait <= 0) callback();
    else
      this.#world.in(wait, () => {
        this.#run(callback);
      });
  }

  /** A request over a network that delays it, and may lose it or its answer. */
  #request<T>(
    serve: () => Promise<T> | T,
    isLost: (direction: "requests" | "answers") => boolean,
  ): Promise<T> {
    const world = this.#world;
    return new Promise((resolve, reject) => {
      const fail = () => {
        world.in(MAX_DELAY_MS, () => {
          this.#run(() => {
            reject(new XoError("STORE_UNAVAILABLE", { reason: "simulated" }));
          });
        });
      };
      const answer = (settle: () => void) => {
        world.in(world.below(MAX_DELAY_MS), () => {
          if (isLost("answers")) fail();
          else this.#run(settle);
        });
      };
      if (isLost("requests")) return fail();
      world.in(world.below(MAX_DELAY_MS), () => {
        if (isLost("requests")) return fail();
        Promise.resolve()
          .then(serve)
          .then(
            (value) => {
              answer(() => {
                resolve(value);
              });
            },
            (error: Error) => {
              answer(() => {
                reject(error);
              });
            },
          );
      });
    });
  }

  #database<T>(serve: () => Promise<T> | T): Promise<T> {
    const world = this.#world;
    return this.#request(
      serve,
      (direction) =>
        world.isDatabaseDown || this.#cutUntil[direction] > world.now,
    );
  }

  #remote(self: LeaseOwner): LeaseStore {
    const { leases } = this.#world;
    return {
      take: (subject, _self, ttl) =>
        this.#database(() => leases.take(subject, self, ttl)),
      renew: (instance, ttl) =>
        this.#database(() => leases.renew(instance, ttl)),
      release: (instance, subjects) =>
        this.#database(() => leases.release(instance, subjects)),
      request: (subject, owner) =>
        this.#database(() => leases.request(subject, owner)),
      transfer: (fence, how, ttl) =>
        this.#database(() => leases.transfer(fence, how, ttl)),
      listFree: (_, withinMs) =>
        this.#database(() => leases.listFree(self, withinMs)),
      list: () => this.#database(() => leases.list()),
    };
  }

  /** As a task: each action is written down before it is sent, and after it was done. */
  async #work(lease: HeldLease): Promise<void> {
    const world = this.#world;
    for (const action of actionsOf(lease.fence.subject)) {
      const known = await this.#untilReachable(lease, () =>
        [" begun", " done"].map((step) => world.steps.has(action + step)),
      );
      const [isBegun, isDone] = known as [boolean, boolean];
      if (isDone) continue;
      if (!isBegun) await this.#write(lease, `${action} begun`);
      // An earlier owner may have sent it: it is found by its mark.
      else if (await this.#requestPool(() => world.done.includes(action))) {
        await this.#write(lease, `${action} done`);
        continue;
      }
      await lease.untilValid();
      const onAnswer = lease.beginCommand();
      this.#busy.add(lease.fence.subject);
      await this.#requestPool(() => world.done.push(action));
      this.#busy.delete(lease.fence.subject);
      onAnswer();
      await this.#write(lease, `${action} done`);
    }
  }

  /** The pool: reachable even if the database is not. */
  #requestPool<T>(serve: () => T): Promise<T> {
    return this.#request(serve, () => false);
  }

  async #write(lease: HeldLease, step: string): Promise<void> {
    await this.#untilReachable(lease, () => {
      this.#world.write(step, lease.fence);
    });
    this.#world.acknowledged.add(step);
  }

  /** @throws XoError LEASE_LOST */
  async #untilReachable<T>(lease: HeldLease, serve: () => T): Promise<T> {
    for (;;)
      try {
        return await this.#database(serve);
      } catch (error) {
        if (lease.isLost || (error as XoError).code === "LEASE_LOST")
          throw error;
      }
  }
}
