import { Semaphore } from "@xo-server/inventory";
import {
  fetchMeasurements,
  type FetchParts,
  type StatsHost,
} from "./fetch-measurements.js";
import { archives, type Granularity } from "./granularity.js";
import type { MemoryShare } from "./memory-share.js";
import { entryOf, putAll, toTrack } from "./object-table.js";
import { shapeOf } from "./shape.js";
import { Track } from "./track.js";

export interface CoarseStatsParts extends FetchParts {
  readonly share: MemoryShare;
}

/** Questions that are under way at a time, of all pools. */
const MOST_FETCHES = 8;
/** What is this old is as good as new: coarser archives grow every so often at most. */
const FRESH_MS = 60_000;
/** So long after somebody wanted to know it is followed. */
const WANTED_MS = 3_600_000;

interface Kept {
  readonly uuid: string;
  readonly granularity: Granularity;
  host: StatsHost;
  track: Track | undefined;
  /** By the clock. */
  askedAt: number;
  wantedAt: number;
  asking?: Promise<Track>;
}

/**
 * The coarser archives of what somebody asked for: got once, then followed at
 * their own step for an hour, and kept as long as there is room.
 */
export class CoarseStats {
  readonly #parts: CoarseStatsParts;
  readonly #kept = new Map<string, Kept>();
  readonly #turns = new Semaphore(MOST_FETCHES);

  constructor(parts: CoarseStatsParts) {
    this.#parts = parts;
  }

  /** Of the rows. */
  get bytes(): number {
    let bytes = 0;
    for (const { track } of this.#kept.values())
      bytes += track?.byteLength ?? 0;
    return bytes;
  }

  /** @throws XoError see fetchMeasurements */
  async read(
    host: StatsHost,
    uuid: string,
    granularity: Granularity,
  ): Promise<Track> {
    const key = `${granularity} ${host.pool} ${uuid}`;
    const now = this.#parts.clock.now();
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      const nothing = { track: undefined, askedAt: -Infinity, wantedAt: now };
      kept = { uuid, granularity, host, ...nothing };
      this.#kept.set(key, kept);
    }
    kept.host = host;
    kept.wantedAt = now;
    const track =
      kept.track !== undefined && now - kept.askedAt < FRESH_MS
        ? kept.track
        : await this.#ask(kept).catch((error: unknown) => {
            if (kept.track === undefined) this.#kept.delete(key);
            throw error;
          });
    this.#parts.share.want(track, () => this.#kept.delete(key));
    return track;
  }

  /** Asks for what is due by now; nothing that fails matters before somebody reads it. */
  async follow(): Promise<void> {
    const now = this.#parts.clock.now();
    const due = [...this.#kept.values()].filter(
      ({ granularity, askedAt, wantedAt }) =>
        now - wantedAt < WANTED_MS &&
        now - askedAt >= archives[granularity].step * 1000,
    );
    await Promise.allSettled(due.map((kept) => this.#ask(kept)));
  }

  #ask(kept: Kept): Promise<Track> {
    kept.asking ??= this.#turns
      .run(() => this.#fetch(kept))
      .finally(() => {
        delete kept.asking;
      });
    return kept.asking;
  }

  async #fetch(kept: Kept): Promise<Track> {
    const { step, points } = archives[kept.granularity];
    const before = kept.track;
    const start = before === undefined ? -points * step : before.end + 1;
    const only = kept.uuid;
    const asked = { step, start, only };
    const table = await fetchMeasurements(kept.host, asked, this.#parts);
    const entry = entryOf(table, only);
    kept.askedAt = this.#parts.clock.now();
    if (entry === undefined)
      return before ?? nothing(only, { step, end: table.end });
    const goesOn =
      before?.step === table.step &&
      before.shape === entry.shape &&
      table.end - before.end < points * step;
    if (goesOn) putAll(before, table, entry);
    else if (before === undefined) kept.track = toTrack(table, entry, points);
    else {
      this.#parts.share.forget(before);
      kept.track = undefined;
      return this.#fetch(kept);
    }
    return kept.track!;
  }
}

/** Of what is not measured. */
export function nothing(
  uuid: string,
  when: { readonly step: number; readonly end: number },
): Track {
  return new Track({ uuid, shape: shapeOf("vm", "")! }, when, 1);
}
