import { digestOfEntries, difference, type Snapshot } from "./snapshot.js";
import type { Projection } from "./projection.js";
import type { LiveUpdate } from "./query.js";
import type { Result } from "./result.js";
import type { Work } from "./work.js";

/** Objects that are encoded between two yields: up to ten microseconds each. */
const STEP = 8;

/** So few objects are encoded in one go. */
const FEW = 32;

export interface WindowPlace {
  readonly offset: number;
  readonly limit: number;
}

/** Who looks through a window, and what he was told last. */
export interface Onlooker {
  window: Window | undefined;
  told: Snapshot | undefined;
  tell(update: LiveUpdate): void;
}

/** A stretch of a result with some fields. Readers who want the same share it: what differs is found once. */
export class Window {
  readonly result: Result;
  readonly projection: Projection;
  /** Who has it open, looking already or about to. */
  users = 0;
  readonly #place: WindowPlace;
  readonly #onlookers = new Set<Onlooker>();
  readonly #revision: () => number;
  #snapshot: Snapshot | undefined;

  /** @param revision that of the feed */
  constructor(
    [result, projection]: readonly [Result, Projection],
    place: WindowPlace,
    revision: () => number,
  ) {
    this.result = result;
    this.projection = projection;
    this.#place = place;
    this.#revision = revision;
  }

  static keyOf(fields: string, { offset, limit }: WindowPlace): string {
    return `${offset}+${limit} ${fields}`;
  }

  /** Tells all what differs, if anything does. */
  *update(): Work<void> {
    yield* this.#prepare();
    yield* this.#tell(this.#advance());
  }

  /** One more who looks, instead of through another window: he hears at once what differs from what he was told last. */
  *join(onlooker: Onlooker, isGivenUp: () => boolean): Work<void> {
    yield* this.#prepare();
    if (isGivenUp()) return;
    const updates = this.#advance();
    const update = difference(onlooker.told, this.#snapshot!, this.#revision());
    onlooker.window?.leave(onlooker);
    onlooker.window = this;
    this.#onlookers.add(onlooker);
    onlooker.told = this.#snapshot;
    onlooker.tell(update);
    yield* this.#tell(updates);
  }

  leave(onlooker: Onlooker): void {
    this.#onlookers.delete(onlooker);
  }

  /** Nobody looks any more. */
  close(): void {
    this.#show(undefined);
    // Encoded for somebody who has gone.
    for (const row of this.#rows()) this.projection.drop(row);
  }

  /** After it, up to the next yield, the result is that of now, and nearly all of the window encoded. */
  *#prepare(): Work<void> {
    yield* this.result.catchUp();
    for (let most = FEW; this.#missing() > most; most *= 2) {
      yield* this.#encode();
      yield* this.result.catchUp();
    }
  }

  #missing(): number {
    let missing = 0;
    for (const row of this.#rows()) if (!this.projection.has(row)) missing++;
    return missing;
  }

  *#encode(): Work<void> {
    const { table } = this.result.columns;
    let made = 0;
    for (const row of this.#rows()) {
      if (this.projection.has(row) || !table.isLive(row)) continue;
      this.projection.entry(row);
      if (++made % STEP === 0) yield;
    }
  }

  #rows(): Int32Array {
    const { offset, limit } = this.#place;
    return this.result.rows.subarray(offset, offset + limit);
  }

  /** Looks anew: what those who look have to hear, by what they were told. */
  #advance(): ReadonlyMap<Snapshot | undefined, LiveUpdate> {
    const updates = new Map<Snapshot | undefined, LiveUpdate>();
    const before = this.#snapshot;
    if (before !== undefined && this.#isSame(before)) return updates;
    const after = this.#look();
    this.#show(after);
    for (const { told } of this.#onlookers)
      if (!updates.has(told))
        updates.set(told, difference(told, after, this.#revision()));
    return updates;
  }

  /** Entries are kept as long as they are shown. */
  #show(after: Snapshot | undefined): void {
    const before = this.#snapshot;
    this.#snapshot = after;
    for (const entry of after?.entries ?? []) entry.users++;
    for (const entry of before?.entries ?? []) {
      entry.users--;
      this.projection.drop(entry.row);
    }
  }

  *#tell(updates: ReadonlyMap<Snapshot | undefined, LiveUpdate>): Work<void> {
    if (updates.size === 0) return;
    const after = this.#snapshot;
    let told = 0;
    for (const onlooker of [...this.#onlookers]) {
      const update = updates.get(onlooker.told);
      // He left meanwhile, or was told by another turn.
      if (update === undefined || onlooker.window !== this) continue;
      onlooker.told = after;
      onlooker.tell(update);
      if (++told % STEP === 0) yield;
    }
  }

  #isSame({ total, entries }: Snapshot): boolean {
    const rows = this.#rows();
    if (total !== this.result.count || entries.length !== rows.length)
      return false;
    for (let i = 0; i < rows.length; i++)
      if (this.projection.entry(rows[i]!) !== entries[i]) return false;
    return true;
  }

  #look(): Snapshot {
    const { result, projection } = this;
    const entries = Array.from(this.#rows(), (row) => projection.entry(row));
    return {
      projection,
      offset: this.#place.offset,
      total: result.count,
      entries,
      digest: digestOfEntries(entries),
    };
  }
}
