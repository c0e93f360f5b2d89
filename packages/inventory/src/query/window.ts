import {
  digestOfEntries,
  difference,
  type WindowState,
} from "./window-state.js";
import type { Projection } from "./projection.js";
import type { LiveUpdate } from "./query.js";
import type { Result } from "./result.js";
import type { SlicedTask } from "./sliced-task.js";

/** Subscribers notified between two yields: up to ten microseconds each. */
const STEP = 8;

/**
 * Up to this number of objects are encoded in one step: a VM takes up to a
 * millisecond, a host with many VMs several.
 */
const MAX_ENCODED_AT_ONCE = 4;

export interface WindowRange {
  readonly offset: number;
  readonly limit: number;
}

/** A subscriber of a window, and the state that was sent to it last. */
export interface Subscriber {
  window: Window | undefined;
  lastSent: WindowState | undefined;
  notify(update: LiveUpdate): void;
}

/**
 * A range of a result with some fields. Subscribers with the same request share
 * it, so that each difference is computed once.
 */
export class Window {
  readonly result: Result;
  readonly projection: Projection;
  /** Subscribers that have it open or are opening it. */
  users = 0;
  readonly #range: WindowRange;
  readonly #subscribers = new Set<Subscriber>();
  readonly #revision: () => number;
  #state: WindowState | undefined;

  /** @param revision returns the current feed revision */
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

  /** Sends the differences, if any, to all subscribers. */
  *update(): SlicedTask<void> {
    yield* this.#prepare();
    yield* this.#notify(this.#advance());
  }

  /**
   * Moves a subscriber from its previous window to this one; it is sent the
   * difference to the state that it has.
   */
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

  /** To be called when there are no subscribers left. */
  close(): void {
    this.#setState(undefined);
    // Entries encoded for a cancelled request.
    for (const row of this.#rows()) this.projection.release(row);
  }

  /**
   * Updates the result and encodes missing objects. Until the next yield the
   * result is current and nearly all objects of the window are encoded.
   */
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
    for (const row of this.#rows()) {
      if (this.projection.has(row) || !table.isLive(row)) continue;
      this.projection.entry(row);
      yield;
    }
  }

  #rows(): Int32Array {
    const { offset, limit } = this.#range;
    return this.result.rows.subarray(offset, offset + limit);
  }

  /**
   * Reads the current state. @returns the updates by the state that subscribers
   * have
   */
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

  /**
   * Counts the uses of entries, so that they are cached while a window contains
   * them.
   */
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
      // The subscriber has left in the meantime, or was notified by another call.
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
