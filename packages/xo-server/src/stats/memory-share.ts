import type { Track } from "./track.js";

/** What an object costs besides its rows, in bytes: measured with 100,000 of them (`npm run bench -- stats`). */
export const OBJECT_BYTES = 1_000;

/** Rows of the finest archive that all objects are kept with: the most that fit. */
const LEVELS = [120, 100, 80, 60, 50, 40, 30, 20, 12, 8, 4] as const;
export const MOST_ROWS = LEVELS[0];
/** Going up needs so much more than there is, so that it does not go up and down. */
const SPARE = 1.1;

/**
 * Divides the memory: half at most is for what somebody asked for, whole; with
 * the rest all objects keep as many rows as fit. What nobody asked for for
 * longest goes first.
 */
export class MemoryShare {
  readonly limitBytes: number;
  /** The one that was asked for last is last. */
  readonly #wanted = new Map<Track, () => void>();
  #wantedBytes = 0;
  #rows: number = MOST_ROWS;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Rows that objects are kept with that nobody asked for. */
  get rows(): number {
    return this.#rows;
  }

  /** @returns rows that this one is kept with */
  rowsOf(track: Track): number {
    return this.#wanted.has(track) ? MOST_ROWS : this.#rows;
  }

  /** @param onGone called when there is no room for it any more */
  want(track: Track, onGone: () => void = () => undefined): void {
    this.forget(track);
    this.#wanted.set(track, onGone);
    this.#wantedBytes += costOf(track);
    for (const [oldest, gone] of this.#wanted) {
      if (this.#wantedBytes <= this.limitBytes / 2 || oldest === track) break;
      this.forget(oldest);
      gone();
    }
  }

  isWanted(track: Track): boolean {
    return this.#wanted.has(track);
  }

  forget(track: Track): void {
    if (this.#wanted.delete(track)) this.#wantedBytes -= costOf(track);
  }

  get wantedBytes(): number {
    return this.#wantedBytes;
  }

  /** @param columns of all objects together @param objects how many */
  divide(columns: number, objects: number): void {
    const room = this.limitBytes - this.#wantedBytes - objects * OBJECT_BYTES;
    const fits = (rows: number) =>
      4 * columns * rows * (rows > this.#rows ? SPARE : 1) <= room;
    this.#rows = LEVELS.find(fits) ?? LEVELS.at(-1)!;
  }
}

/** With all its rows, whatever it has by now. */
function costOf({ shape, capacity }: Track): number {
  const rows = Math.max(capacity, MOST_ROWS);
  return OBJECT_BYTES + 4 * shape.names.length * rows;
}
