import type { WallClock } from "@xo-server/kit";
import type { ActivityEntry, Actor, ActivityEvent } from "./activity-entry.js";

interface JournalOptions {
  readonly clock: Pick<WallClock, "now">;
  /** Maximum number of entries. */
  readonly maxEntries: number;
  /** Retention, in ms. */
  readonly retentionMs: number;
}

/** Number of recent entries that are searched for a newly created object. */
const RECENT_ENTRIES = 500;

/** The entries in memory, newest last; limited by number and age. */
export class Journal {
  readonly #options: JournalOptions;
  #entries: ActivityEntry[] = [];
  #seq: number;
  #written = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    // Sequence numbers are higher than those of any previous run of the server.
    this.#seq = options.clock.now() * 1_000;
  }

  get size(): number {
    return this.#entries.length;
  }

  get most(): number {
    return this.#options.maxEntries;
  }

  /** Number of entries since the start. */
  get written(): number {
    return this.#written;
  }

  /** Read-only for callers. A later `add` may replace the list. */
  get entries(): readonly ActivityEntry[] {
    this.#evictByAge();
    return this.#entries;
  }

  add(event: ActivityEvent, by: Actor | undefined): void {
    this.#written++;
    const head = { seq: ++this.#seq, time: this.#options.clock.now() };
    this.#entries.push(toEntry(head, event, by));
    this.#evictByNumber();
  }

  /**
   * Attributes the creation of an object to an actor, when the operation has
   * ended.
   */
  attribute(objectId: string, by: Actor): boolean {
    const { length } = this.#entries;
    const oldest = Math.max(0, length - RECENT_ENTRIES);
    for (let at = length - 1; at >= oldest; at--) {
      const entry = this.#entries[at]!;
      if (entry.objectId !== objectId || entry.by !== undefined) continue;
      if (!entry.kind.endsWith(".created")) continue;
      this.#entries[at] = { ...entry, by };
      return true;
    }
    return false;
  }

  /** Evicts entries in bulk, so that the list is not copied for each entry. */
  #evictByNumber(): void {
    const { maxEntries } = this.#options;
    if (this.#entries.length > maxEntries)
      this.#entries = this.#entries.slice(-(maxEntries - (maxEntries >> 4)));
  }

  #evictByAge(): void {
    const { clock, retentionMs } = this.#options;
    const oldest = clock.now() - retentionMs;
    let count = 0;
    while (count < this.size && this.#entries[count]!.time < oldest) count++;
    if (count > 0) this.#entries = this.#entries.slice(count);
  }
}

/**
 * Sets properties one by one: V8 stores an object with optional properties that were
 * spread as a dictionary, of 0.5 instead of 0.2 KB.
 */
function toEntry(
  { seq, time }: Pick<ActivityEntry, "seq" | "time">,
  event: ActivityEvent,
  by: Actor | undefined,
): ActivityEntry {
  const { kind, objectId, type, name, pool, was, of, from, to } = event;
  const entry: { -readonly [Key in keyof ActivityEntry]: ActivityEntry[Key] } =
    {
      seq,
      time,
      kind,
      objectId,
      type,
      name,
    };
  if (pool !== undefined) entry.pool = pool;
  if (was !== undefined) entry.was = was;
  if (of !== undefined) entry.of = of;
  if (from !== undefined) entry.from = from;
  if (to !== undefined) entry.to = to;
  if (by !== undefined) entry.by = by;
  return entry;
}
