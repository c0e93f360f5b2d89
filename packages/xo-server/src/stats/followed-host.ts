import type { Inventory, Steps } from "@xo-server/inventory";
import type { XportTable } from "@xo-server/parser-pool";
import {
  fetchMeasurements,
  type FetchParts,
  type StatsHost,
} from "./fetch-measurements.js";
import { archives } from "./granularity.js";
import { readLegend, type Legend, type LegendEntry } from "./legend.js";
import type { Followed, Tracks } from "./tracks.js";

export interface FollowedHostParts extends FetchParts {
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly tracks: Tracks;
  /** An object's latest row has come. */
  readonly onRow: (followed: Followed, nowMs: number) => void;
}

const { step: STEP, points } = archives.seconds;
/** Of the first question: the archive fills as time goes on. */
const FIRST_ROWS = 3;
/** Measurements that may be missing before clocks are suspected, or another host may tell of the same. */
const FEW = 3;
/** A host has this long to tell its latest rows. */
const WITHIN_MS = 10_000;
/** Objects between two looks at the clock. */
const OBJECTS_A_STEP = 20;

/** One host, asked again and again for what came after what is known. */
export class FollowedHost {
  readonly #parts: FollowedHostParts;
  #legend: Legend = { key: "", entries: [] };
  /** By its own clock, in s; undefined: all is asked as if for the first time. */
  #end: number | undefined;
  /** That it answers with, in s. */
  #step = STEP;
  #askedAt = -Infinity;
  #heardAt = -Infinity;
  #asking: Promise<void> | undefined;

  constructor(parts: FollowedHostParts) {
    this.#parts = parts;
  }

  /** By our clock, in ms: when it last told something new. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** By our clock, in ms: when its last answer was there. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Of the latest row, by its own clock, in s. */
  get end(): number {
    return this.#end ?? 0;
  }

  /** What it tells of. */
  get entries(): readonly LegendEntry[] {
    return this.#legend.entries;
  }

  /** One question at a time: who asks meanwhile gets the same. @throws XoError see fetchMeasurements */
  ask(host: StatsHost): Promise<void> {
    this.#asking ??= this.#ask(host).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(host: StatsHost): Promise<void> {
    const { clock, inventory } = this.#parts;
    const isRecent = clock.now() - this.#heardAt < (points - FEW) * STEP * 1000;
    if (!isRecent) this.#end = undefined;
    let table = await this.#fetch(host);
    if (!this.#isContinued(table)) {
      this.#end = undefined;
      this.#step = table.step;
      table = await this.#fetch(host);
    }
    this.#step = table.step;
    await inventory.runInSlices("stats", this.#take(host, table));
    this.#askedAt = clock.now();
    if (table.rows === 0) return;
    this.#end = table.end;
    this.#heardAt = clock.now();
  }

  #fetch(host: StatsHost): Promise<XportTable> {
    const start =
      this.#end === undefined ? -FIRST_ROWS * this.#step : this.#end + 1;
    const known = this.#legend.key;
    const asked = { step: STEP, start, known, withinMs: WITHIN_MS };
    return fetchMeasurements(host, asked, this.#parts);
  }

  /** Not where its clock was set back, or it told of another archive because it was too long ago. */
  #isContinued({ step, end }: XportTable): boolean {
    const before = this.#end ?? -Infinity;
    return step === this.#step && end >= before - FEW * step;
  }

  *#take(host: StatsHost, table: XportTable): Steps {
    if (table.legend !== undefined) {
      const entries: LegendEntry[] = [];
      yield* readLegend(table.legend, entries);
      yield* this.#letGo(host, entries);
      this.#legend = { key: table.legendKey, entries };
    }
    if (table.rows === 0) return;
    for (const [i, entry] of this.#legend.entries.entries()) {
      this.#apply(host, table, entry);
      if (i % OBJECTS_A_STEP === OBJECTS_A_STEP - 1) yield;
    }
  }

  /** VMs that it tells of no more may be told of by another host at once. */
  *#letGo({ id, pool }: StatsHost, entries: readonly LegendEntry[]): Steps {
    const uuids = new Set<string>();
    for (const { uuid } of entries) uuids.add(uuid);
    yield;
    for (const [i, { uuid }] of this.#legend.entries.entries()) {
      if (i % OBJECTS_A_STEP === OBJECTS_A_STEP - 1) yield;
      const followed = this.#parts.tracks.get(pool, uuid);
      if (followed?.host === id && !uuids.has(uuid)) followed.host = undefined;
    }
  }

  #apply({ id, pool }: StatsHost, table: XportTable, entry: LegendEntry): void {
    const { tracks, clock, onRow } = this.#parts;
    const { rows, step, end, values, columns } = table;
    const now = clock.now();
    let followed = tracks.get(pool, entry.uuid);
    if (followed === undefined || followed.track.step !== step)
      followed = tracks.add(pool, entry, { step, end: end - rows * step });
    else if (!isItsTurn(followed, id, now)) return;
    tracks.reshape(followed, entry);
    const { track } = followed;
    if (track.rows > 0) {
      const shift = clockShift(followed, end, now);
      if (shift !== 0) track.shift(shift);
    }
    for (let row = 0; row < rows; row++) {
      const time = end - (rows - 1 - row) * step;
      if (time > track.end) tracks.fit(followed);
      track.put(time, values, row * columns + entry.from);
    }
    followed.host = id;
    followed.heardAt = now;
    onRow(followed, now);
  }
}

/** While a VM moves two hosts tell of it: the one that told first goes on as long as it tells. */
function isItsTurn(
  { host, heardAt, track }: Followed,
  id: string,
  now: number,
): boolean {
  const isHost = host === undefined || host === id;
  return isHost || now - heardAt > FEW * track.step * 1000;
}

/**
 * A host's clock may differ from that of the host before, or have been set: what
 * is known then moves along, so that its rows stay as far apart as they were
 * measured. In s; 0: it goes well with the time that has passed.
 */
function clockShift(
  { heardAt, track: { end, step } }: Followed,
  newEnd: number,
  now: number,
): number {
  const passed = (now - heardAt) / 1000;
  const shift = newEnd - end - passed;
  return Math.abs(shift) <= FEW * step ? 0 : Math.round(shift / step) * step;
}
