import { NULL_REF } from "@xo-server/model";
import { toDatetime, type SimulatorClock } from "./clock.js";
import type { Database } from "./database.js";
import { XapiFailure } from "./xapi-failure.js";

/** A signed-in client. */
interface Session {
  readonly ref: string;
  readonly userName: string;
  readonly originator: string;
  /** Made by slave_local_login: good for emergency calls only, and no object of the database. */
  readonly local: boolean;
  /** Milliseconds by the clock. */
  lastActive: number;
  /** Writes of `last_active` are rare: once in ten minutes at most. */
  lastWritten: number;
}

/** XAPI's limits [xapi_globs.ml:287-297, 726-729]. */
const IDLE_LIMIT_MS = 24 * 3600_000;
const WRITE_EVERY_MS = 600_000;
const MAX_PER_ORIGINATOR = 500;
const MAX_PER_USER = 500;
const MAX_WITHOUT_ORIGINATOR = 400;

/** Sessions, with XAPI's limits: the oldest idle session is removed first. */
export class Sessions {
  readonly #db: Database;
  readonly #clock: SimulatorClock;
  readonly #sessions = new Map<string, Session>();
  readonly #listeners = new Set<(ref: string) => void>();

  constructor(db: Database, clock: SimulatorClock) {
    this.#db = db;
    this.#clock = clock;
  }

  create(userName: string, originator: string, hostRef: string): Session {
    const now = this.#clock.now();
    const ref = this.#db.create("session", {
      this_host: hostRef,
      this_user: NULL_REF,
      last_active: toDatetime(now),
      validation_time: toDatetime(now),
      is_local_superuser: true,
      auth_user_name: userName,
      originator,
    });
    const session = this.#add({ ref, userName, originator, local: false }, now);
    this.#limit(session);
    return session;
  }

  createLocal(userName: string): Session {
    const ref = this.#db.newRef();
    return this.#add(
      { ref, userName, originator: "", local: true },
      this.#clock.now(),
    );
  }

  /** Counts as activity. @throws XapiFailure SESSION_INVALID */
  use(ref: string): Session {
    const session = this.#sessions.get(ref);
    const now = this.#clock.now();
    if (session !== undefined && now - session.lastActive > IDLE_LIMIT_MS)
      this.end(ref);
    if (session === undefined || !this.#sessions.has(ref))
      throw new XapiFailure("SESSION_INVALID", [ref]);
    session.lastActive = now;
    if (!session.local && now - session.lastWritten >= WRITE_EVERY_MS) {
      session.lastWritten = now;
      this.#db.update("session", ref, { last_active: toDatetime(now) });
    }
    return session;
  }

  /** Whether this is a session of slave_local_login. */
  isLocal(ref: string): boolean {
    return this.#sessions.get(ref)?.local === true;
  }

  isAlive(ref: string): boolean {
    return this.#sessions.has(ref);
  }

  end(ref: string): void {
    if (!this.#sessions.delete(ref)) return;
    if (this.#db.find("session", ref) !== undefined)
      this.#db.destroy("session", ref);
    for (const listener of [...this.#listeners]) listener(ref);
  }

  endAll(): void {
    for (const ref of [...this.#sessions.keys()]) this.end(ref);
  }

  /** Calls the listener for each session that ends. @returns the function that removes it */
  onEnd(listener: (ref: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #add(
    identity: Pick<Session, "ref" | "userName" | "originator" | "local">,
    now: number,
  ): Session {
    const session = { ...identity, lastActive: now, lastWritten: now };
    this.#sessions.set(session.ref, session);
    return session;
  }

  #limit(newest: Session): void {
    const all = [...this.#sessions.values()].filter((s) => !s.local);
    const { originator, userName } = newest;
    if (originator === "")
      this.#trim(
        all.filter((s) => s.originator === ""),
        MAX_WITHOUT_ORIGINATOR,
      );
    else
      this.#trim(
        all.filter((s) => s.originator === originator),
        MAX_PER_ORIGINATOR,
      );
    this.#trim(
      all.filter((s) => s.userName === userName && s.originator !== ""),
      MAX_PER_USER,
    );
  }

  #trim(sessions: Session[], limit: number): void {
    if (sessions.length <= limit) return;
    sessions.sort((a, b) => a.lastActive - b.lastActive);
    for (const { ref } of sessions.slice(0, sessions.length - limit))
      this.end(ref);
  }
}
