import { XoError } from "@xo-server/model";
import { guestIdsOf } from "../hosts/guests.js";
import { MaintenanceWindows } from "../schedules/maintenance-windows.js";
import { pause } from "../tasks/pause.js";
import {
  defaultLengths,
  estimateWaves,
  lengthsOf,
  type Lengths,
} from "./estimate.js";
import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import type { Wave } from "./run-wave.js";

const LOOK_EVERY_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * Determines when the next step of a run may start: users suspend runs, and
 * maintenance windows end.
 */
export class StepTimes {
  readonly #journal: RollingJournal;
  readonly #parts: RollingParts;
  readonly #windows: MaintenanceWindows;

  /** @throws XoError INVALID_PARAMETERS: unknown time zone */
  constructor(journal: RollingJournal, parts: RollingParts) {
    this.#journal = journal;
    this.#parts = parts;
    this.#windows = new MaintenanceWindows(
      journal.record.windows ?? { ranges: [] },
    );
  }

  /**
   * Estimated duration of a step, in ms: from the earlier steps of this run,
   * otherwise from the last run of the pool.
   */
  lengthOf({ turns, actions }: Pick<Wave, "turns" | "actions">): number {
    const { objects } = this.#parts;
    const moves =
      actions ??
      turns.flatMap(({ host }) =>
        guestIdsOf(objects.get(host, "host")).map((vm) => ({ vm, from: host })),
      );
    const [times] = estimateWaves(
      [{ actions: moves }],
      objects,
      this.#lengths(),
    );
    return times!.endsAt * 1000;
  }

  /**
   * @param ms length of the longest step
   * @throws XoError INVALID_PARAMETERS: no window is long enough for it
   */
  checkFits(ms: number): void {
    const { clock } = this.#parts;
    if (this.#windows.startFor(ms, clock.now()) !== undefined) return;
    const longest = Math.floor(this.#windows.longest(clock.now()) / MINUTE_MS);
    throw new XoError("INVALID_PARAMETERS", {
      reason: `windows: the longest has ${longest} minutes, a step takes about ${Math.ceil(ms / MINUTE_MS)}`,
    });
  }

  /**
   * Earliest start of a step of this duration, in ms since the epoch; Infinity: a user has
   * suspended the run.
   */
  startFor(ms: number): number {
    const { records, clock } = this.#parts;
    if (records.isSuspended(this.#journal.record.pool)) return Infinity;
    this.checkFits(ms);
    return this.#windows.startFor(ms, clock.now())!;
  }

  /**
   * Resolves when a step of this length may be begun.
   * @throws XoError ABORTED; LEASE_LOST: another server continues the run
   */
  async untilStart(ms: number): Promise<void> {
    const { clock, signal, work } = this.#parts;
    for (;;) {
      const start = this.startFor(ms);
      if (start <= clock.now()) return;
      await this.#keepSuspension(start);
      await pause(clock, LOOK_EVERY_MS, signal);
      if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
      if (work.lease?.isLost === true) work.lease.check();
    }
  }

  async #keepSuspension(start: number): Promise<void> {
    const { clock, work } = this.#parts;
    const until = start === Infinity ? undefined : start;
    const { suspension } = this.#journal.record;
    if (suspension !== undefined && suspension.until === until) return;
    const since = suspension?.since ?? clock.now();
    await this.#journal.keep({
      suspension: until === undefined ? { since } : { since, until },
    });
    work.info(
      until === undefined
        ? "suspended by a user"
        : `suspended until the maintenance window of ${new Date(until).toISOString()}`,
    );
  }

  #lengths(): Lengths {
    const { record, kind } = this.#journal;
    const last = this.#parts.records.last(record.pool);
    const own = { kind, waves: record.waves ?? [] };
    return (
      lengthsOf(kind, own) ?? lengthsOf(kind, last) ?? defaultLengths(kind)
    );
  }
}
