import { Semaphore } from "@xo-server/inventory";
import {
  fetchMeasurements,
  type FetchParts,
  type StatsHost,
} from "./fetch-measurements.js";
import { archives, type Granularity } from "./granularity.js";
import type { MemoryShare } from "./memory-share.js";
import { entryOf, putAll, toSeries } from "./object-table.js";
import { columnSetOf } from "./column-set.js";
import { MetricSeries } from "./metric-series.js";

interface CoarseStatsParts extends FetchParts {
  readonly share: MemoryShare;
}

/** Maximum number of concurrent requests, over all pools. */
const MAX_FETCHES = 8;
/** Coarser archives change rarely: data of this age is reused. */
const FRESH_MS = 60_000;
/** Time for which an archive is followed after its last request, in ms. */
const FOLLOW_MS = 3_600_000;

interface CachedArchive {
  readonly uuid: string;
  readonly granularity: Granularity;
  host: StatsHost;
  series: MetricSeries | undefined;
  /** By the local clock, in ms. */
  fetchedAt: number;
  requestedAt: number;
  fetching?: Promise<MetricSeries>;
}

/**
 * The coarser archives of requested objects: fetched once, then followed at
 * their own step for an hour, and cached while memory allows.
 */
export class CoarseStats {
  readonly #parts: CoarseStatsParts;
  readonly #cache = new Map<string, CachedArchive>();
  readonly #turns = new Semaphore(MAX_FETCHES);

  constructor(parts: CoarseStatsParts) {
    this.#parts = parts;
  }

  /** Size of the rows. */
  get bytes(): number {
    let bytes = 0;
    for (const { series } of this.#cache.values())
      bytes += series?.byteLength ?? 0;
    return bytes;
  }

  /** @throws XoError see fetchMeasurements */
  async read(
    host: StatsHost,
    uuid: string,
    granularity: Granularity,
  ): Promise<MetricSeries> {
    const key = `${granularity} ${host.pool} ${uuid}`;
    const now = this.#parts.clock.now();
    let archive = this.#cache.get(key);
    if (archive === undefined) {
      const nothing = {
        series: undefined,
        fetchedAt: -Infinity,
        requestedAt: now,
      };
      archive = { uuid, granularity, host, ...nothing };
      this.#cache.set(key, archive);
    }
    archive.host = host;
    archive.requestedAt = now;
    const series =
      archive.series !== undefined && now - archive.fetchedAt < FRESH_MS
        ? archive.series
        : await this.#fetchOnce(archive).catch((error: unknown) => {
            if (archive.series === undefined) this.#cache.delete(key);
            throw error;
          });
    this.#parts.share.retain(series, () => this.#cache.delete(key));
    return series;
  }

  /**
   * Fetches archives that are due. Errors are ignored here: the next reader
   * gets them.
   */
  async follow(): Promise<void> {
    const now = this.#parts.clock.now();
    const due = [...this.#cache.values()].filter(
      ({ granularity, fetchedAt, requestedAt }) =>
        now - requestedAt < FOLLOW_MS &&
        now - fetchedAt >= archives[granularity].step * 1000,
    );
    await Promise.allSettled(due.map((archive) => this.#fetchOnce(archive)));
  }

  #fetchOnce(archive: CachedArchive): Promise<MetricSeries> {
    archive.fetching ??= this.#turns
      .run(() => this.#fetch(archive))
      .finally(() => {
        delete archive.fetching;
      });
    return archive.fetching;
  }

  async #fetch(archive: CachedArchive): Promise<MetricSeries> {
    const { step, points } = archives[archive.granularity];
    const before = archive.series;
    const start = before === undefined ? -points * step : before.end + 1;
    const only = archive.uuid;
    const requested = { step, start, rows: points, only };
    const table = await fetchMeasurements(archive.host, requested, this.#parts);
    const entry = entryOf(table, only);
    archive.fetchedAt = this.#parts.clock.now();
    if (entry === undefined)
      return before ?? nothing(only, { step, end: table.end });
    const goesOn =
      before?.step === table.step &&
      before.columnSet === entry.columnSet &&
      table.end - before.end < points * step;
    if (goesOn) putAll(before, table, entry);
    else if (before === undefined)
      archive.series = toSeries(table, entry, points);
    else {
      this.#parts.share.release(before);
      archive.series = undefined;
      return this.#fetch(archive);
    }
    return archive.series!;
  }
}

/** A series without measurements. */
export function nothing(
  uuid: string,
  when: { readonly step: number; readonly end: number },
): MetricSeries {
  return new MetricSeries({ uuid, columnSet: columnSetOf("vm", "")! }, when, 1);
}
