import type { RollingParts } from "./rolling-parts.js";
import type { RollingRecord } from "./rolling-record.js";

type RecordChange = {
  readonly [K in keyof RollingRecord]?: RollingRecord[K] | undefined;
};

/** The record of one run, in memory and as it is stored, with the current step. */
export class RollingJournal {
  readonly #parts: Pick<RollingParts, "records" | "clock">;
  #record: RollingRecord;
  /** The current step, for error messages. */
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

  /** Changes the record without storing it. Members that are undefined are removed. */
  change(change: RecordChange): void {
    const all = Object.entries({ ...this.#record, ...change });
    this.#record = Object.fromEntries(
      all.filter(([, value]) => value !== undefined),
    ) as unknown as RollingRecord;
  }

  /** Changes the record; resolves when it is stored. */
  async keep(change: RecordChange): Promise<void> {
    this.change(change);
    await this.#parts.records.keep(this.#record);
  }

  /** Stores the result of the run, for the next estimate and for users. */
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
