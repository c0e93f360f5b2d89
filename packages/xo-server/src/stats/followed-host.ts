import type { Inventory, Steps } from "@xo-server/inventory";
import type { XportTable } from "@xo-server/parser-pool";
import {
  fetchMeasurements,
  type FetchParts,
  type StatsHost,
} from "./fetch-measurements.js";
import { archives } from "./granularity.js";
import { readLegend, type Legend, type LegendEntry } from "./legend.js";
import type { TrackedObject, SeriesStore } from "./series-store.js";

interface FollowedHostParts extends FetchParts {
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly seriesStore: SeriesStore;
  /** Called when an object has a new row. */
  readonly onRow: (followed: TrackedObject, nowMs: number) => void;
}

const { step: STEP, points } = archives.seconds;
/** Number of rows in the first request; older rows are added over time. */
const FIRST_ROWS = 3;
/**
 * Number of missing measurements after which the clock is checked, or another
 * host may report the object.
 */
const MAX_MISSING = 3;
/** Timeout for the latest rows of a host. */
const WITHIN_MS = 10_000;
/** Objects per step of a slice. */
const OBJECTS_PER_STEP = 20;

/** Fetches the new rows of one host repeatedly. */
export class FollowedHost {
  readonly #parts: FollowedHostParts;
  #legend: Legend = { key: "", entries: [] };
  /**
   * End of the known rows by the host's clock, in s; undefined: the next request is
   * like the first.
   */
  #end: number | undefined;
  /** Step of the host's answers, in s. */
  #step = STEP;
  #fetchedAt = -Infinity;
  #receivedAt = -Infinity;
  #fetching: Promise<void> | undefined;

  constructor(parts: FollowedHostParts) {
    this.#parts = parts;
  }

  /** When it last reported new rows, by the local clock, in ms. */
  get receivedAt(): number {
    return this.#receivedAt;
  }

  /** When its last answer arrived, by the local clock, in ms. */
  get fetchedAt(): number {
    return this.#fetchedAt;
  }

  /** Time of the latest row, by the host's clock, in s. */
  get end(): number {
    return this.#end ?? 0;
  }

  /** The objects that it reports. */
  get entries(): readonly LegendEntry[] {
    return this.#legend.entries;
  }

  /**
   * One request at a time: concurrent callers share it.
   * @throws XoError see fetchMeasurements
   */
  fetch(host: StatsHost): Promise<void> {
    this.#fetching ??= this.#fetch(host).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(host: StatsHost): Promise<void> {
    const { clock, inventory } = this.#parts;
    const isRecent =
      clock.now() - this.#receivedAt < (points - MAX_MISSING) * STEP * 1000;
    if (!isRecent) this.#end = undefined;
    let table = await this.#fetchTable(host);
    if (!this.#isContinued(table)) {
      this.#end = undefined;
      this.#step = table.step;
      table = await this.#fetchTable(host);
    }
    this.#step = table.step;
    await inventory.runInSlices("stats", this.#take(host, table));
    this.#fetchedAt = clock.now();
    if (table.rows === 0) return;
    this.#end = table.end;
    this.#receivedAt = clock.now();
  }

  #fetchTable(host: StatsHost): Promise<XportTable> {
    const end = this.#end;
    const since =
      end === undefined
        ? { start: -FIRST_ROWS * this.#step, rows: FIRST_ROWS }
        : { start: end + 1, rows: this.#missingRows() };
    const requested = {
      ...since,
      step: STEP,
      known: this.#legend.key,
      withinMs: WITHIN_MS,
    };
    return fetchMeasurements(host, requested, this.#parts);
  }

  /** Number of rows since the last answer, by the local clock. */
  #missingRows(): number {
    const passedMs = this.#parts.clock.now() - this.#receivedAt;
    return Math.min(points, Math.max(0, Math.ceil(passedMs / 1000 / STEP)));
  }

  /**
   * False when its clock was set back, or when it used another archive because
   * the known rows are too old.
   */
  #isContinued({ step, end }: XportTable): boolean {
    const before = this.#end ?? -Infinity;
    return step === this.#step && end >= before - MAX_MISSING * step;
  }

  *#take(host: StatsHost, table: XportTable): Steps {
    if (table.legend !== undefined) {
      const entries: LegendEntry[] = [];
      yield* readLegend(table.legend, entries);
      yield* this.#release(host, entries);
      this.#legend = { key: table.legendKey, entries };
    }
    if (table.rows === 0) return;
    for (const [i, entry] of this.#legend.entries.entries()) {
      this.#apply(host, table, entry);
      if (i % OBJECTS_PER_STEP === OBJECTS_PER_STEP - 1) yield;
    }
  }

  /**
   * VMs that it no longer reports can be reported by another host immediately.
   */
  *#release({ id, pool }: StatsHost, entries: readonly LegendEntry[]): Steps {
    const uuids = new Set<string>();
    for (const { uuid } of entries) uuids.add(uuid);
    yield;
    for (const [i, { uuid }] of this.#legend.entries.entries()) {
      if (i % OBJECTS_PER_STEP === OBJECTS_PER_STEP - 1) yield;
      const followed = this.#parts.seriesStore.get(pool, uuid);
      if (followed?.host === id && !uuids.has(uuid)) followed.host = undefined;
    }
  }

  #apply({ id, pool }: StatsHost, table: XportTable, entry: LegendEntry): void {
    const { seriesStore, clock, onRow } = this.#parts;
    const { rows, step, end, values, columns } = table;
    const now = clock.now();
    let followed = seriesStore.get(pool, entry.uuid);
    if (followed === undefined || followed.series.step !== step)
      followed = seriesStore.add(pool, entry, { step, end: end - rows * step });
    else if (!isItsTurn(followed, id, now)) return;
    seriesStore.setColumns(followed, entry);
    const { series } = followed;
    if (series.rows > 0) {
      const shift = clockShift(followed, end, now);
      if (shift !== 0) series.shift(shift);
    }
    for (let row = 0; row < rows; row++) {
      const time = end - (rows - 1 - row) * step;
      if (time > series.end) seriesStore.fit(followed);
      series.put(time, values, row * columns + entry.from);
    }
    followed.host = id;
    followed.receivedAt = now;
    onRow(followed, now);
  }
}

/**
 * During a migration two hosts report the VM: the first one is used while it
 * reports.
 */
function isItsTurn(
  { host, receivedAt, series }: TrackedObject,
  id: string,
  now: number,
): boolean {
  const isHost = host === undefined || host === id;
  return isHost || now - receivedAt > MAX_MISSING * series.step * 1000;
}

/**
 * Clocks of hosts differ and can be set: the seconds by which known rows are
 * shifted so that rows keep their distances. 0: consistent with the elapsed
 * time.
 */
function clockShift(
  { receivedAt, series: { end, step } }: TrackedObject,
  newEnd: number,
  now: number,
): number {
  const passed = (now - receivedAt) / 1000;
  const shift = newEnd - end - passed;
  return Math.abs(shift) <= MAX_MISSING * step
    ? 0
    : Math.round(shift / step) * step;
}
