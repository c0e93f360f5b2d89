import type { AuditRecord } from "@xo-server/store";
import type { ForwardStatus } from "./forward-status.js";

type Position = Pick<AuditRecord, "seq" | "time">;

/** How far the log was forwarded to a target, for status and metrics. */
export class ForwardProgress {
  /** Number of the last entry that the target has received; undefined: not known yet. */
  #position: number | undefined;
  /** Number of the last entry of the log that this server knows of. */
  #last = 0;
  /** Time of the oldest entry that was not forwarded; undefined: all were. */
  #oldestAt: number | undefined;
  #isElsewhere = false;
  #error: string | undefined;
  #sent = 0;
  #failures = 0;
  #lastSentAt: number | undefined;

  get isFailing(): boolean {
    return this.#error !== undefined;
  }

  /** To be called when an entry was written to the log. */
  appended({ seq, time }: Position): void {
    if (seq <= this.#last) return;
    this.#last = seq;
    this.#oldestAt ??= time;
  }

  /** @param next entries after the position, oldest first @param last number of the last entry of the log */
  read(position: number, next: readonly Position[], last: number): void {
    this.#isElsewhere = false;
    this.#position = position;
    this.#last = Math.max(this.#last, last);
    this.#oldestAt = next[0]?.time;
  }

  forwarded(entries: readonly Position[], now: number): void {
    const { seq, time } = entries.at(-1)!;
    this.#position = seq;
    this.#sent += entries.length;
    this.#lastSentAt = now;
    this.#oldestAt = this.#last > seq ? time : undefined;
  }

  /** To be called when another server forwards to this target. */
  elsewhere(position: number, next: Position | undefined, last: number): void {
    this.read(position, next === undefined ? [] : [next], last);
    this.#isElsewhere = true;
    this.succeeded();
  }

  succeeded(): void {
    this.#error = undefined;
  }

  failed(reason: string): void {
    this.#failures++;
    this.#error = reason;
  }

  status(now: number): Omit<ForwardStatus, "name" | "address"> {
    const position = this.#position ?? this.#last;
    const oldestAt = this.#oldestAt;
    return {
      state: this.#state(),
      pending: Math.max(this.#last - position, 0),
      lagMs:
        oldestAt === undefined ? 0 : Math.max(Math.round(now - oldestAt), 0),
      sent: this.#sent,
      failures: this.#failures,
      ...(this.#lastSentAt === undefined
        ? {}
        : { lastSentAt: this.#lastSentAt }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }

  #state(): ForwardStatus["state"] {
    if (this.#error !== undefined) return "failing";
    if (this.#isElsewhere) return "elsewhere";
    if (this.#position === undefined) return "starting";
    return this.#position < this.#last ? "behind" : "current";
  }
}
