import type { RollingParts } from "./rolling-parts.js";
import type { RollingRecord } from "./rolling-record.js";

type RecordChange = {
  readonly [K in keyof RollingRecord]?: RollingRecord[K] | undefined;
};

/** The record of one run, as it is and as it is stored, and where the run is. */
export class RollingJournal {
  readonly #parts: Pick<RollingParts, "records" | "clock">;
  #record: RollingRecord;
  /** The step, for error messages. */
  at = "the beginning";

  constructor(
    record: RollingRecord,
    parts: Pick<RollingParts, "records" | "clock">,
  ) {
    this.#record = record;
    this.#parts = parts;
  }

  get record(): RollingRecord {
    return this.#record;
  }

  get kind(): "reboot" | "update" {
    return this.#record.kind ?? "reboot";
  }

  /** Changes it without storing it. A member that is undefined is removed. */
  change(change: RecordChange): void {
    const all = Object.entries({ ...this.#record, ...change });
    this.#record = Object.fromEntries(
      all.filter(([, value]) => value !== undefined),
    ) as unknown as RollingRecord;
  }

  /** The same; resolves when it is stored. */
  async keep(change: RecordChange): Promise<void> {
    this.change(change);
    await this.#parts.records.keep(this.#record);
  }

  /** Stores the last run, for the next estimate and for users. */
  keepLast(): Promise<void> {
    const { records, clock } = this.#parts;
    const { pool, since, turns, completed, waves, stopped } = this.#record;
    return records.keepLast(pool, {
      kind: this.kind,
      since,
      endedAt: clock.now(),
      hosts: turns.length,
      completed: completed?.length ?? 0,
      ...(waves && { waves }),
      ...(stopped === undefined ? {} : { stopped }),
    });
  }
}
