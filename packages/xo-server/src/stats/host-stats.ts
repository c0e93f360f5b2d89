import { Semaphore, type Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { pause } from "../tasks/pause.js";
import { CoarseStats, nothing } from "./coarse-stats.js";
import {
  fetchArchives,
  fetchMeasurements,
  type FetchParts,
  type StatsHost,
} from "./fetch-measurements.js";
import { FollowedHost } from "./followed-host.js";
import { archives, type Granularity } from "./granularity.js";
import { MemoryShare, MAX_ROWS } from "./memory-share.js";
import { entryOf, putAll, toSeries } from "./object-table.js";
import type { MetricSeries } from "./metric-series.js";
import { SeriesStore, type TrackedObject } from "./series-store.js";

interface HostStatsOptions extends FetchParts {
  readonly inventory: Pick<Inventory, "runInSlices">;
  /** Limit of the cached data. */
  readonly limitBytes?: number;
  /** Called when an object has a new row. */
  readonly onRow?: (followed: TrackedObject, nowMs: number) => void;
  /**
   * Data of this age, in ms, is reused; default: 5 s, the interval at which
   * hosts measure.
   */
  readonly freshMs?: () => number;
}

const MIB = 1024 * 1024;
/** Maximum number of concurrent requests for readers, over all pools. */
const MAX_FETCHES = 16;
const FRESH_MS = 5_000;
/**
 * Maximum time that readers wait for data from before the host was followed, in ms;
 * then they get what is available.
 */
const WHOLE_WITHIN_MS = 1_000;
const WINDOW_MS = MAX_ROWS * archives.seconds.step * 1000;

/**
 * Metrics of hosts. Cached rows are never requested again; new rows are
 * requested once for all readers, whether hosts are followed or not.
 */
export class HostStats {
  readonly seriesStore: SeriesStore;
  readonly coarse: CoarseStats;
  readonly #options: HostStatsOptions;
  readonly #freshMs: () => number;
  readonly #hosts = new Map<string, FollowedHost>();
  readonly #completing = new Map<MetricSeries, Promise<void>>();
  readonly #turns = new Semaphore(MAX_FETCHES);

  constructor(options: HostStatsOptions) {
    const share = new MemoryShare(options.limitBytes ?? 128 * MIB);
    this.#options = options;
    this.#freshMs = options.freshMs ?? (() => FRESH_MS);
    this.seriesStore = new SeriesStore(share);
    this.coarse = new CoarseStats({ ...options, share });
  }

  /** Estimated size of all cached data. */
  get bytes(): number {
    return this.seriesStore.bytes + this.coarse.bytes;
  }

  /**
   * Fetches new rows.
   * @throws XoError see fetchMeasurements
   */
  fetch(host: StatsHost): Promise<void> {
    return this.#host(host).fetch(host);
  }

  /** @param isHost whether the host still exists */
  evictHosts(isHost: (id: string) => boolean): void {
    for (const id of this.#hosts.keys())
      if (!isHost(id)) this.#hosts.delete(id);
  }

  /** Time of the host's latest row, by its clock, in s. */
  endOf(id: string): number | undefined {
    return this.#hosts.get(id)?.end;
  }

  /**
   * The host's own metrics and those of its VMs and SRs.
   * @throws XoError see fetchMeasurements
   */
  async latest(host: StatsHost): Promise<readonly MetricSeries[]> {
    const followed = await this.#fresh(host);
    return followed.entries.flatMap(({ uuid }) => {
      const of = this.seriesStore.get(host.pool, uuid);
      // During a migration two hosts report the VM.
      return of?.host === host.id ? [of.series] : [];
    });
  }

  /**
   * A host or a VM. Without rows if the host does not measure it.
   * @throws XoError see fetchMeasurements
   */
  async read(
    host: StatsHost,
    uuid: string,
    granularity: Granularity,
  ): Promise<MetricSeries> {
    if (granularity !== "seconds")
      return this.coarse.read(host, uuid, granularity);
    const { end } = await this.#fresh(host, uuid);
    const followed = this.seriesStore.get(host.pool, uuid);
    if (followed === undefined)
      return nothing(uuid, { step: archives.seconds.step, end });
    this.seriesStore.share.retain(followed.series, () => {
      followed.isWhole = false;
    });
    if (!followed.isWhole) await this.#complete(host, followed);
    return followed.series;
  }

  /**
   * Archived metrics of a halted VM; undefined: there are none.
   * @throws XoError see fetchArchives
   */
  async readArchive(
    xapi: StatsHost["xapi"],
    uuid: string,
    granularity: Granularity,
  ): Promise<MetricSeries | undefined> {
    const { step, points } = archives[granularity];
    const tables = await fetchArchives(uuid, xapi, this.#options).catch(
      (error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      },
    );
    const table = tables.find((one) => one.step === step);
    const entry = table && entryOf(table, "");
    return entry && toSeries(table, entry, points);
  }

  #host({ id }: StatsHost): FollowedHost {
    let host = this.#hosts.get(id);
    if (host === undefined) {
      const { seriesStore } = this;
      const { onRow = () => undefined } = this.#options;
      host = new FollowedHost({ ...this.#options, seriesStore, onRow });
      this.#hosts.set(id, host);
    }
    return host;
  }

  /** If the host does not answer, recent cached rows are returned. */
  async #fresh(host: StatsHost, uuid?: string): Promise<FollowedHost> {
    const { clock } = this.#options;
    const followed = this.#host(host);
    if (clock.now() - followed.fetchedAt < this.#freshMs()) return followed;
    try {
      await this.#turns.run(() => followed.fetch(host));
    } catch (error) {
      const known = this.seriesStore.get(host.pool, uuid ?? "");
      const receivedAt = known?.receivedAt ?? -Infinity;
      if (clock.now() - receivedAt > WINDOW_MS) throw error;
    }
    return followed;
  }

  async #complete(host: StatsHost, followed: TrackedObject): Promise<void> {
    const { series } = followed;
    let completing = this.#completing.get(series);
    if (completing === undefined) {
      completing = this.#turns
        .run(() => this.#fetchWhole(host, followed))
        // Without that data the series is shorter; the next reader triggers a retry.
        .catch(() => undefined)
        .finally(() => this.#completing.delete(series));
      this.#completing.set(series, completing);
    }
    const early = new AbortController();
    const { clock } = this.#options;
    await Promise.race([
      completing,
      pause(clock, WHOLE_WITHIN_MS, early.signal),
    ]);
    early.abort();
  }

  async #fetchWhole(host: StatsHost, followed: TrackedObject): Promise<void> {
    const { step, points } = archives.seconds;
    const { series } = followed;
    const requested = {
      step,
      start: -points * step,
      rows: points,
      only: series.uuid,
    };
    const table = await fetchMeasurements(host, requested, this.#options);
    const entry = entryOf(table, series.uuid);
    const isKept =
      this.seriesStore.get(host.pool, series.uuid)?.series === series;
    if (
      !isKept ||
      entry?.columnSet !== series.columnSet ||
      table.step !== series.step
    )
      return;
    this.seriesStore.resize(series, MAX_ROWS);
    putAll(series, table, entry);
    followed.isWhole = true;
  }
}

/** Whether the coordinator has no archive. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof XoError &&
    error.code === "HTTP_STATUS" &&
    error.data["status"] === 404
  );
}
