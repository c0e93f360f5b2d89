import type { Steps } from "@xo-server/inventory";
import { MemoryShare, OBJECT_BYTES } from "./memory-share.js";
import type { LegendEntry } from "./legend.js";
import { Track } from "./track.js";

/** Rows that an object begins with; it grows as they come. */
const FIRST_ROWS = 4;
/** Objects between two looks at the clock. */
const OBJECTS_A_STEP = 50;

/** An object that is measured, at the finest granularity. */
export interface Followed {
  readonly track: Track;
  /** Id of the host that tells; undefined: whichever does next. */
  host: string | undefined;
  /** By our clock, in ms: when the latest row came. */
  heardAt: number;
  /** What somebody asked for was got from its host's archive. */
  isWhole: boolean;
  /** Its latest figures are told. */
  isNow: boolean;
}

/**
 * What is measured of all objects, by pool and uuid: a pool can say nothing of
 * what is another's. An object that hosts tell no more goes when all its rows
 * would be too old.
 */
export class Tracks {
  readonly share: MemoryShare;
  readonly #pools = new Map<string, Map<string, Followed>>();
  #columns = 0;
  #rowBytes = 0;
  #objects = 0;

  constructor(share: MemoryShare) {
    this.share = share;
  }

  get objects(): number {
    return this.#objects;
  }

  /** Of rows, and of what keeps them, by estimate. */
  get bytes(): number {
    return this.#rowBytes + OBJECT_BYTES * this.#objects;
  }

  get(pool: string, uuid: string): Followed | undefined {
    return this.#pools.get(pool)?.get(uuid);
  }

  /** @param end before its first row, in s */
  add(pool: string, entry: LegendEntry, end: { step: number; end: number }) {
    let all = this.#pools.get(pool);
    if (all === undefined) {
      all = new Map<string, Followed>();
      this.#pools.set(pool, all);
    }
    const before = all.get(entry.uuid);
    if (before !== undefined) {
      this.share.forget(before.track);
      this.#count(before.track, -1);
    }
    const followed: Followed = {
      track: new Track(entry, end, FIRST_ROWS),
      host: undefined,
      heardAt: -Infinity,
      isWhole: false,
      isNow: before?.isNow ?? false,
    };
    all.set(entry.uuid, followed);
    this.#count(followed.track, 1);
    return followed;
  }

  /** Makes room for one more row, or takes some where there is not enough for all. */
  fit({ track }: Followed): void {
    const most = this.share.rowsOf(track);
    const isFull = track.rows === track.capacity;
    if (track.capacity <= most && !(isFull && track.capacity < most)) return;
    this.resize(track, Math.min(most, 2 * track.capacity));
  }

  /** Measures other things from now on. */
  reshape({ track }: Followed, { shape }: LegendEntry): void {
    if (track.shape === shape) return;
    // What it costs of the share is another then.
    const isWanted = this.share.isWanted(track);
    this.share.forget(track);
    this.#count(track, -1);
    track.reshape(shape);
    this.#count(track, 1);
    if (isWanted) this.share.want(track);
  }

  resize(track: Track, rows: number): void {
    this.#count(track, -1);
    track.resize(rows);
    this.#count(track, 1);
  }

  /** Looks at all of them; those go of which `goes` says so. */
  *sweep(goes: (pool: string, followed: Followed) => boolean): Steps {
    let seen = 0;
    for (const [pool, all] of this.#pools) {
      for (const [uuid, followed] of all) {
        if (++seen % OBJECTS_A_STEP === 0) yield;
        if (!goes(pool, followed)) continue;
        // It may have come anew while others had their turn.
        if (all.get(uuid) === followed) all.delete(uuid);
        this.share.forget(followed.track);
        this.#count(followed.track, -1);
      }
      if (all.size === 0) this.#pools.delete(pool);
    }
    this.share.divide(this.#columns, this.#objects);
  }

  #count({ shape, byteLength }: Track, by: 1 | -1): void {
    this.#objects += by;
    this.#columns += by * shape.names.length;
    this.#rowBytes += by * byteLength;
  }
}
