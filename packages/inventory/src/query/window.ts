import {
  digestOfEntries,
  difference,
  type WindowState,
} from "./window-state.js";
import type { Projection } from "./projection.js";
import type { LiveUpdate } from "./query.js";
import type { Result } from "./result.js";
import type { SlicedTask } from "./sliced-task.js";

/** Objects that are encoded between two yields: up to ten microseconds each. */
const STEP = 8;

/** So few objects are encoded in one go. */
const MAX_ENCODED_AT_ONCE = 32;

export interface WindowRange {
  readonly offset: number;
  readonly limit: number;
}

/** Who looks through a window, and what he was lastSent last. */
export interface Subscriber {
  window: Window | undefined;
  lastSent: WindowState | undefined;
  notify(update: LiveUpdate): void;
}

/** A stretch of a result with some fields. Readers who want the same share it: what differs is found once. */
export class Window {
  readonly result: Result;
  readonly projection: Projection;
  /** Who has it open, looking already or about to. */
  users = 0;
  readonly #range: WindowRange;
  readonly #subscribers = new Set<Subscriber>();
  readonly #revision: () => number;
  #state: WindowState | undefined;

  /** @param revision that of the feed */
  constructor(
    [result, projection]: readonly [Result, Projection],
    range: WindowRange,
    revision: () => number,
  ) {
    this.result = result;
    this.projection = projection;
    this.#range = range;
    this.#revision = revision;
  }

  static keyOf(fields: string, { offset, limit }: WindowRange): string {
    return `${offset}+${limit} ${fields}`;
  }

  /** Tells all what differs, if anything does. */
  *update(): SlicedTask<void> {
    yield* this.#prepare();
    yield* this.#notify(this.#advance());
  }

  /** One more who looks, instead of through another window: he hears at once what differs from what he was lastSent last. */
  *join(subscriber: Subscriber, isCancelled: () => boolean): SlicedTask<void> {
    yield* this.#prepare();
    if (isCancelled()) return;
    const updates = this.#advance();
    const update = difference(
      subscriber.lastSent,
      this.#state!,
      this.#revision(),
    );
    subscriber.window?.leave(subscriber);
    subscriber.window = this;
    this.#subscribers.add(subscriber);
    subscriber.lastSent = this.#state;
    subscriber.notify(update);
    yield* this.#notify(updates);
  }

  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Nobody looks any more. */
  close(): void {
    this.#setState(undefined);
    // Encoded for somebody who has gone.
    for (const row of this.#rows()) this.projection.release(row);
  }

  /** After it, up to the next yield, the result is that of now, and nearly all of the window encoded. */
  *#prepare(): SlicedTask<void> {
    yield* this.result.catchUp();
    for (
      let limit = MAX_ENCODED_AT_ONCE;
      this.#countMissing() > limit;
      limit *= 2
    ) {
      yield* this.#encodeMissing();
      yield* this.result.catchUp();
    }
  }

  #countMissing(): number {
    let missing = 0;
    for (const row of this.#rows()) if (!this.projection.has(row)) missing++;
    return missing;
  }

  *#encodeMissing(): SlicedTask<void> {
    const { table } = this.result.columns;
    let encoded = 0;
    for (const row of this.#rows()) {
      if (this.projection.has(row) || !table.isLive(row)) continue;
      this.projection.entry(row);
      if (++encoded % STEP === 0) yield;
    }
  }

  #rows(): Int32Array {
    const { offset, limit } = this.#range;
    return this.result.rows.subarray(offset, offset + limit);
  }

  /** Looks anew: what those who look have to hear, by what they were lastSent. */
  #advance(): ReadonlyMap<WindowState | undefined, LiveUpdate> {
    const updates = new Map<WindowState | undefined, LiveUpdate>();
    const before = this.#state;
    if (before !== undefined && this.#isSame(before)) return updates;
    const after = this.#readState();
    this.#setState(after);
    for (const { lastSent } of this.#subscribers)
      if (!updates.has(lastSent))
        updates.set(lastSent, difference(lastSent, after, this.#revision()));
    return updates;
  }

  /** Entries are kept as long as they are shown. */
  #setState(after: WindowState | undefined): void {
    const before = this.#state;
    this.#state = after;
    for (const entry of after?.entries ?? []) entry.users++;
    for (const entry of before?.entries ?? []) {
      entry.users--;
      this.projection.release(entry.row);
    }
  }

  *#notify(
    updates: ReadonlyMap<WindowState | undefined, LiveUpdate>,
  ): SlicedTask<void> {
    if (updates.size === 0) return;
    const after = this.#state;
    let sent = 0;
    for (const subscriber of [...this.#subscribers]) {
      const update = updates.get(subscriber.lastSent);
      // He left meanwhile, or was lastSent by another turn.
      if (update === undefined || subscriber.window !== this) continue;
      subscriber.lastSent = after;
      subscriber.notify(update);
      if (++sent % STEP === 0) yield;
    }
  }

  #isSame({ total, entries }: WindowState): boolean {
    const rows = this.#rows();
    if (total !== this.result.count || entries.length !== rows.length)
      return false;
    for (let i = 0; i < rows.length; i++)
      if (this.projection.entry(rows[i]!) !== entries[i]) return false;
    return true;
  }

  #readState(): WindowState {
    const { result, projection } = this;
    const entries = Array.from(this.#rows(), (row) => projection.entry(row));
    return {
      projection,
      offset: this.#range.offset,
      total: result.count,
      entries,
      digest: digestOfEntries(entries),
    };
  }
}
