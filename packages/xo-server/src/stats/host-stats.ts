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
import { MemoryShare, MOST_ROWS } from "./memory-share.js";
import { entryOf, putAll, toTrack } from "./object-table.js";
import type { Track } from "./track.js";
import { Tracks, type Followed } from "./tracks.js";

export interface HostStatsOptions extends FetchParts {
  readonly inventory: Pick<Inventory, "runInSlices">;
  /** Of what is kept. */
  readonly limitBytes?: number;
  /** An object's latest row has come. */
  readonly onRow?: (followed: Followed, nowMs: number) => void;
  /** What is this old is as good as new; default: 5 s, as often as hosts measure. */
  readonly freshMs?: number;
}

const MIB = 1024 * 1024;
/** Answers that readers wait for at a time, of all pools. */
const MOST_FETCHES = 16;
const FRESH_MS = 5_000;
/** Readers wait so long for what was before a host was followed; then they get what there is. */
const WHOLE_WITHIN_MS = 1_000;
const WINDOW_MS = MOST_ROWS * archives.seconds.step * 1000;

/**
 * What hosts measure: what is known is never asked for again, only what came
 * after it, once for all who want to know, whether they are followed or not.
 */
export class HostStats {
  readonly tracks: Tracks;
  readonly coarse: CoarseStats;
  readonly #options: HostStatsOptions;
  readonly #freshMs: number;
  readonly #hosts = new Map<string, FollowedHost>();
  readonly #completing = new Map<Track, Promise<void>>();
  readonly #turns = new Semaphore(MOST_FETCHES);

  constructor(options: HostStatsOptions) {
    const share = new MemoryShare(options.limitBytes ?? 128 * MIB);
    this.#options = options;
    this.#freshMs = options.freshMs ?? FRESH_MS;
    this.tracks = new Tracks(share);
    this.coarse = new CoarseStats({ ...options, share });
  }

  /** Of all that is kept, by estimate. */
  get bytes(): number {
    return this.tracks.bytes + this.coarse.bytes;
  }

  /** Asks for what is new. @throws XoError see fetchMeasurements */
  ask(host: StatsHost): Promise<void> {
    return this.#host(host).ask(host);
  }

  /** @param isHost whether there is still such a host */
  forgetHosts(isHost: (id: string) => boolean): void {
    for (const id of this.#hosts.keys())
      if (!isHost(id)) this.#hosts.delete(id);
  }

  /** Of a host, by its clock, in s: when its latest row was measured. */
  endOf(id: string): number | undefined {
    return this.#hosts.get(id)?.end;
  }

  /** Whatever a host measures, of itself, its VMs and SRs. @throws XoError see fetchMeasurements */
  async latest(host: StatsHost): Promise<readonly Track[]> {
    const followed = await this.#fresh(host);
    return followed.entries.flatMap(({ uuid }) => {
      const of = this.tracks.get(host.pool, uuid);
      // While a VM moves two hosts tell of it.
      return of?.host === host.id ? [of.track] : [];
    });
  }

  /**
   * One object that a host measures: itself, or a VM. Without rows where it
   * measures no such thing.
   * @throws XoError see fetchMeasurements
   */
  async read(
    host: StatsHost,
    uuid: string,
    granularity: Granularity,
  ): Promise<Track> {
    if (granularity !== "seconds")
      return this.coarse.read(host, uuid, granularity);
    const { end } = await this.#fresh(host, uuid);
    const followed = this.tracks.get(host.pool, uuid);
    if (followed === undefined)
      return nothing(uuid, { step: archives.seconds.step, end });
    this.tracks.share.want(followed.track, () => {
      followed.isWhole = false;
    });
    if (!followed.isWhole) await this.#complete(host, followed);
    return followed.track;
  }

  /** What was measured of a VM that does not run; undefined: nothing is kept. @throws XoError see fetchArchives */
  async readArchive(
    xapi: StatsHost["xapi"],
    uuid: string,
    granularity: Granularity,
  ): Promise<Track | undefined> {
    const { step, points } = archives[granularity];
    const tables = await fetchArchives(uuid, xapi, this.#options).catch(
      (error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      },
    );
    const table = tables.find((one) => one.step === step);
    const entry = table && entryOf(table, "");
    return entry && toTrack(table, entry, points);
  }

  #host({ id }: StatsHost): FollowedHost {
    let host = this.#hosts.get(id);
    if (host === undefined) {
      const { tracks } = this;
      const { onRow = () => undefined } = this.#options;
      host = new FollowedHost({ ...this.#options, tracks, onRow });
      this.#hosts.set(id, host);
    }
    return host;
  }

  /** Of a host that does not answer what is known lately of an object is told as it is. */
  async #fresh(host: StatsHost, uuid?: string): Promise<FollowedHost> {
    const { clock } = this.#options;
    const followed = this.#host(host);
    if (clock.now() - followed.askedAt < this.#freshMs) return followed;
    try {
      await this.#turns.run(() => followed.ask(host));
    } catch (error) {
      const known = this.tracks.get(host.pool, uuid ?? "");
      const heardAt = known?.heardAt ?? -Infinity;
      if (clock.now() - heardAt > WINDOW_MS) throw error;
    }
    return followed;
  }

  async #complete(host: StatsHost, followed: Followed): Promise<void> {
    const { track } = followed;
    let completing = this.#completing.get(track);
    if (completing === undefined) {
      completing = this.#turns
        .run(() => this.#fetchWhole(host, followed))
        // It shows as a shorter past; who asks next has it tried again.
        .catch(() => undefined)
        .finally(() => this.#completing.delete(track));
      this.#completing.set(track, completing);
    }
    const early = new AbortController();
    const { clock } = this.#options;
    await Promise.race([
      completing,
      pause(clock, WHOLE_WITHIN_MS, early.signal),
    ]);
    early.abort();
  }

  async #fetchWhole(host: StatsHost, followed: Followed): Promise<void> {
    const { step, points } = archives.seconds;
    const { track } = followed;
    const asked = { step, start: -points * step, only: track.uuid };
    const table = await fetchMeasurements(host, asked, this.#options);
    const entry = entryOf(table, track.uuid);
    const isKept = this.tracks.get(host.pool, track.uuid)?.track === track;
    if (!isKept || entry?.shape !== track.shape || table.step !== track.step)
      return;
    this.tracks.resize(track, MOST_ROWS);
    putAll(track, table, entry);
    followed.isWhole = true;
  }
}

/** The coordinator's answer where it has no archive. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof XoError &&
    error.code === "HTTP_STATUS" &&
    error.data["status"] === 404
  );
}
