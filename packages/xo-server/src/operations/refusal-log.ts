import type { WallClock } from "@xo-server/kit";
import { isRefusal } from "./refusal.js";
import type { AuditedCall, AuditedChange } from "./audited-call.js";

const INTERVAL_MS = 60_000;
/**
 * Maximum number of pairs of user and operation per interval; rejections of further
 * ones are not recorded.
 */
const MAX_PAIRS = 10_000;

/**
 * Calls that their operation rejected, of one user, operation and error, that have an
 * entry of their own per interval. More than one, because the operation may have begun.
 */
const MAX_ENTRIES = 10;

interface Coalesced {
  readonly call: AuditedChange;
  readonly error: Error;
  readonly timer: unknown;
  /** Entries of their own. */
  entries: number;
  /** Calls without an entry of their own. */
  repeated: number;
}

/**
 * Records rejected calls of users: the first one of a user and operation
 * immediately, and the number of those that follow within a minute in another
 * entry. A flood of rejected calls therefore cannot fill the audit log.
 */
export class RefusalLog {
  readonly #write: (call: AuditedCall) => Promise<void>;
  readonly #clock: WallClock;
  readonly #recent = new Map<string, Coalesced>();
  #writing: Promise<unknown> = Promise.resolve();

  /** @param write never rejects */
  constructor(write: (call: AuditedCall) => Promise<void>, clock: WallClock) {
    this.#write = write;
    this.#clock = clock;
  }

  add(call: AuditedChange, error: Error): void {
    const { user } = call.context;
    // Anonymous clients could fill the audit log by using many addresses.
    if (user === undefined) return;
    const key = `${user.id} ${call.operation.name}`;
    const recent = this.#recent.get(key);
    if (recent !== undefined) {
      recent.repeated++;
      return;
    }
    if (this.#start(key, call, error))
      this.#add({ ...call, outcome: { error } });
  }

  /**
   * Counts a call that its operation rejected, such as one that names an object that
   * does not exist: the first ten of a user, operation and error within a minute have
   * entries of their own, the others are a number in another entry.
   * @returns whether the call has no entry of its own
   */
  isCounted(call: AuditedChange, error: Error): boolean {
    const { user } = call.context;
    if (user === undefined || !isRefusal(error)) return false;
    // Whether entries can be written at all is not the user's doing.
    if (error.code === "STORE_UNAVAILABLE") return false;
    const key = `${user.id} ${call.operation.name} ${error.code}`;
    const recent = this.#recent.get(key);
    if (recent === undefined) {
      this.#start(key, call, error);
      return false;
    }
    if (recent.entries < MAX_ENTRIES) {
      recent.entries++;
      return false;
    }
    recent.repeated++;
    return true;
  }

  /** @returns false: there are too many pairs */
  #start(key: string, call: AuditedChange, error: Error): boolean {
    if (this.#recent.size >= MAX_PAIRS) return false;
    const timer = this.#clock.setTimeout(() => this.#end(key), INTERVAL_MS);
    this.#recent.set(key, { call, error, timer, entries: 1, repeated: 0 });
    return true;
  }

  async stop(): Promise<void> {
    for (const [key, { timer }] of [...this.#recent]) {
      this.#clock.clearTimeout(timer);
      this.#end(key);
    }
    await this.#writing;
  }

  #end(key: string): void {
    const { call, error, repeated } = this.#recent.get(key)!;
    this.#recent.delete(key);
    if (repeated === 0) return;
    const params = { repeated, withinMs: INTERVAL_MS };
    this.#add({ ...call, params, outcome: { error } });
  }

  #add(call: AuditedCall): void {
    this.#writing = Promise.all([this.#writing, this.#write(call)]);
  }
}
