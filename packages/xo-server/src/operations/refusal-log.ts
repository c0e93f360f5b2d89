import type { WallClock } from "@xo-server/kit";
import type { AuditedCall, AuditedChange } from "./audited-call.js";

const INTERVAL_MS = 60_000;
/**
 * Maximum number of pairs of user and operation per interval; rejections of further
 * ones are not recorded.
 */
const MAX_PAIRS = 10_000;

interface Coalesced {
  readonly call: AuditedChange;
  readonly error: Error;
  readonly timer: unknown;
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
    if (this.#recent.size >= MAX_PAIRS) return;
    const timer = this.#clock.setTimeout(() => this.#end(key), INTERVAL_MS);
    this.#recent.set(key, { call, error, timer, repeated: 0 });
    this.#add({ ...call, outcome: { error } });
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
