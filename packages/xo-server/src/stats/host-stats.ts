import type { Inventory } from "@xo-server/inventory";
import type { XportTable } from "@xo-server/parser-pool";
import {
  fetchMeasurements,
  type FetchParts,
  type StatsHost,
} from "./fetch-measurements.js";
import { archives, type Granularity } from "./granularity.js";
import { Legend, readLegend } from "./legend.js";
import { Series } from "./series.js";
import { Turns } from "@xo-server/inventory";

export interface HostStatsOptions extends FetchParts {
  readonly inventory: Pick<Inventory, "inSlices">;
  /** Of numbers that are kept. */
  readonly limitBytes?: number;
}

const MIB = 1024 * 1024;
/** Answers that are under way at a time, of all pools. */
const MOST_FETCHES = 16;
/** What is this old is as good as new: hosts measure every 5 s. */
const FRESH_MS = 5_000;
const LONGEST_FRESH_MS = 60_000;

interface Kept {
  series?: Series;
  /** By the clock. */
  fetchedAt: number;
  fetching?: Promise<Series>;
}

/**
 * What hosts measure, asked for when somebody wants to know and shared by all
 * who do: one question a host, granularity and interval. What is known already
 * is not asked for again, only what came after it. What nobody wanted for
 * longest goes first when the numbers take too much room.
 */
export class HostStats {
  readonly #options: HostStatsOptions;
  readonly #limitBytes: number;
  /** The one that was wanted last is last. */
  readonly #kept = new Map<string, Kept>();
  readonly #turns = new Turns(MOST_FETCHES);
  #bytes = 0;

  constructor(options: HostStatsOptions) {
    this.#options = options;
    this.#limitBytes = options.limitBytes ?? 128 * MIB;
  }

  /** Of the numbers that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws XoError see fetchMeasurements */
  async read(host: StatsHost, granularity: Granularity): Promise<Series> {
    const key = `${host.id} ${granularity}`;
    const kept = this.#kept.get(key) ?? { fetchedAt: -Infinity };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (kept.series !== undefined && this.#isFresh(kept, granularity))
      return kept.series;
    kept.fetching ??= this.#refresh(host, granularity, kept).finally(() => {
      delete kept.fetching;
    });
    return kept.fetching;
  }

  #isFresh({ fetchedAt }: Kept, granularity: Granularity): boolean {
    const stepMs = archives[granularity].step * 1000;
    const freshMs = Math.max(FRESH_MS, Math.min(stepMs, LONGEST_FRESH_MS));
    return this.#options.clock.now() - fetchedAt < freshMs;
  }

  async #refresh(
    host: StatsHost,
    granularity: Granularity,
    kept: Kept,
  ): Promise<Series> {
    const before = kept.series;
    const series =
      (before && (await this.#goOn(host, granularity, before))) ??
      (await this.#begin(host, granularity));
    kept.fetchedAt = this.#options.clock.now();
    kept.series = series;
    this.#count();
    return series;
  }

  /** @returns undefined: other VMs run there now, or it was too long ago */
  async #goOn(
    host: StatsHost,
    granularity: Granularity,
    series: Series,
  ): Promise<Series | undefined> {
    const table = await this.#fetch(host, granularity, series.end + 1);
    const { points, step } = archives[granularity];
    const isRecent = table.end - series.end < points * step;
    if (!isRecent || !series.continues(table)) return undefined;
    series.append(table);
    return series;
  }

  async #begin(host: StatsHost, granularity: Granularity): Promise<Series> {
    const { points, step } = archives[granularity];
    const table = await this.#fetch(host, granularity, -points * step);
    const legend = new Legend(table.legendKey);
    const lane = `stats ${host.id}`;
    await this.#options.inventory.inSlices(
      lane,
      readLegend(legend, table.legend),
    );
    return new Series(table, legend, points);
  }

  #fetch(
    host: StatsHost,
    granularity: Granularity,
    start: number,
  ): Promise<XportTable> {
    const { step } = archives[granularity];
    return this.#turns.take(() =>
      fetchMeasurements(host, { step, start }, this.#options),
    );
  }

  /** Lets go of what nobody wanted for longest; one that is being fetched is wanted. */
  #count(): void {
    this.#bytes = 0;
    for (const { series } of this.#kept.values())
      this.#bytes += series?.byteLength ?? 0;
    for (const [key, { series, fetching }] of this.#kept) {
      if (this.#bytes <= this.#limitBytes) break;
      if (fetching !== undefined) continue;
      this.#kept.delete(key);
      this.#bytes -= series?.byteLength ?? 0;
    }
  }
}
