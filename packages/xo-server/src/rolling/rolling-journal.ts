import type { RollingParts } from "./rolling-parts.js";
import type { RollingRecord } from "./rolling-record.js";

type RecordChange = {
  readonly [K in keyof RollingRecord]?: RollingRecord[K] | undefined;
};

/** The record of one run, in memory and as it is stored, with the current step. */
export class RollingJournal {
  readonly #parts: Pick<RollingParts, "records" | "clock" | "work">;
  #record: RollingRecord;
  /** The current step, for error messages. */
  at = "the beginning";

  constructor(
    record: RollingRecord,
    parts: Pick<RollingParts, "records" | "clock" | "work">,
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

  /** Changes the record; resolves when it is stored. @throws XoError LEASE_LOST */
  async keep(change: RecordChange): Promise<void> {
    const { records, work } = this.#parts;
    this.change(change);
    await records.keep(this.#record, work.lease);
  }

  /** Deletes the record of a run that is complete. @throws XoError LEASE_LOST */
  forget(): Promise<void> {
    const { records, work } = this.#parts;
    return records.forget(this.#record.pool, work.lease);
  }

  /** Stores the result of the run, for the next estimate and for users. */
  keepLast(): Promise<void> {
    const { records, clock, work } = this.#parts;
    const { pool, since, turns, completed, waves, stopped, task } =
      this.#record;
    const run = {
      kind: this.kind,
      since,
      endedAt: clock.now(),
      hosts: turns.length,
      completed: completed?.length ?? 0,
      ...(waves && { waves }),
      ...(stopped === undefined ? {} : { stopped }),
      ...(task === undefined ? {} : { task }),
    };
    return records.keepLast(pool, run, work.lease);
  }
}
