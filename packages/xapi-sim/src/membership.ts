import { recordAgentStart } from "./agent-start.js";
import type { SimulatorClock } from "./clock.js";
import type { Database } from "./database.js";
import type { Member } from "./members.js";
import type { Sessions } from "./sessions.js";
import { XapiFailure } from "./xapi-failure.js";

/** The listener of each host, and the coordinator. */
export class Membership {
  readonly #db: Database;
  readonly #clock: SimulatorClock;
  /** The coordinator of the start first. */
  readonly #members = new Map<string, Member>();
  /** Hosts that are unreachable. */
  readonly #unreachable = new Set<string>();
  readonly poolRef: string;
  #silenced: string | undefined;
  /** Address of the coordinator of another pool that this one's host has joined. */
  #following: string | undefined;

  constructor(db: Database, members: readonly Member[], clock: SimulatorClock) {
    this.#db = db;
    this.#clock = clock;
    const [pool] = db.records("pool");
    if (pool === undefined) throw new Error("the fleet has no pool");
    this.poolRef = pool[0];
    const coordinator = this.coordinatorRef;
    const others = [...db.refs("host")].filter((ref) => ref !== coordinator);
    [coordinator, ...others]
      .slice(0, members.length)
      .forEach((ref, i) => this.#members.set(ref, members[i]!));
  }

  get coordinatorRef(): string {
    return this.#db.get("pool", this.poolRef)["master"] as string;
  }

  addressOf(hostRef: string): string | undefined {
    return this.#members.get(hostRef)?.address;
  }

  urlOf(hostRef: string): string {
    return this.memberFor(hostRef)[1].listener.url;
  }

  /** A host with a listener: this one, else the coordinator, else the first. */
  memberFor(hostRef: string): readonly [hostRef: string, member: Member] {
    for (const ref of [hostRef, this.coordinatorRef]) {
      const member = this.#members.get(ref);
      if (member !== undefined) return [ref, member];
    }
    return this.#members.entries().next().value!;
  }

  isUnreachable(hostRef: string): boolean {
    return this.#unreachable.has(hostRef);
  }

  setReachable(hostRef: string, reachable: boolean, sessions: Sessions): void {
    if (reachable) {
      this.#unreachable.delete(hostRef);
      return;
    }
    this.#unreachable.add(hostRef);
    if (hostRef === this.coordinatorRef) sessions.endAll();
    this.#members.get(hostRef)?.listener.disconnectAll();
  }

  /** A member with a listener that answers and is not the coordinator. */
  successor(): string | undefined {
    const { coordinatorRef } = this;
    return [...this.#members.keys()].find(
      (ref) =>
        ref !== coordinatorRef &&
        !this.#unreachable.has(ref) &&
        this.#db.find("host", ref) !== undefined,
    );
  }

  get following(): string | undefined {
    return this.#following;
  }

  /** The host is a member of another pool from now on, or (undefined) one of its own again. */
  follow(address: string | undefined, sessions: Sessions): void {
    this.#following = address;
    sessions.endAll();
    for (const { listener } of this.#members.values()) listener.disconnectAll();
  }

  listening(): Iterable<[hostRef: string, member: Member]> {
    return this.#members;
  }

  /** Makes the current coordinator stop responding. */
  silence(): void {
    this.#silenced = this.coordinatorRef;
  }

  isSilenced(hostRef: string): boolean {
    return this.#silenced === hostRef;
  }

  /**
   * Changes the coordinator: sessions end, as XAPI restarts on both hosts;
   * connections to the old one are closed, unless it does not answer.
   * @throws XapiFailure HANDLE_INVALID
   */
  promote(hostRef: string | undefined, sessions: Sessions): string {
    const old = this.coordinatorRef;
    const next =
      hostRef ?? [...this.#members.keys()].find((ref) => ref !== old);
    if (next === undefined || this.#db.find("host", next) === undefined)
      throw new XapiFailure("HANDLE_INVALID", ["host", next ?? ""]);
    this.#db.update("pool", this.poolRef, { master: next });
    this.#db.forgetDeletions();
    recordAgentStart(this.#db, this.#clock, next);
    sessions.endAll();
    // The response to the call that requested this is sent first.
    if (!this.isSilenced(old))
      setImmediate(() => this.#members.get(old)?.listener.disconnectAll());
    return next;
  }
}
