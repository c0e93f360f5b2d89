import type { Clock } from "../clock.js";
import type { ActivityEntry, Doer, Happening } from "./activity-entry.js";

export interface JournalOptions {
  readonly clock: Pick<Clock, "now">;
  /** Entries that are kept. */
  readonly most: number;
  /** How long, in ms. */
  readonly keptMs: number;
}

/** Of the last entries, those that may be of an object that has just been made. */
const MADE_LATELY = 500;

/** What has happened, the newest last; bounded by number and age. */
export class Journal {
  readonly #options: JournalOptions;
  #entries: ActivityEntry[] = [];
  #seq: number;
  #written = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    // Numbers of one run are all higher than those of the run before.
    this.#seq = options.clock.now() * 1_000;
  }

  get size(): number {
    return this.#entries.length;
  }

  get most(): number {
    return this.#options.most;
  }

  /** Since the start. */
  get written(): number {
    return this.#written;
  }

  /** Not to be changed; a later `add` may give another list. */
  get entries(): readonly ActivityEntry[] {
    this.#forgetOld();
    return this.#entries;
  }

  add(happening: Happening, by: Doer | undefined): void {
    this.#written++;
    this.#entries.push({
      ...happening,
      seq: ++this.#seq,
      time: this.#options.clock.now(),
      ...(by === undefined ? {} : { by }),
    });
    this.#forgetMost();
  }

  /** Somebody has made this object, as we hear at the end of it. */
  attribute(objectId: string, by: Doer): boolean {
    const { length } = this.#entries;
    const oldest = Math.max(0, length - MADE_LATELY);
    for (let at = length - 1; at >= oldest; at--) {
      const entry = this.#entries[at]!;
      if (entry.objectId !== objectId || entry.by !== undefined) continue;
      if (!entry.kind.endsWith(".created")) continue;
      this.#entries[at] = { ...entry, by };
      return true;
    }
    return false;
  }

  /** In bulk: the list is not moved for each. */
  #forgetMost(): void {
    const { most } = this.#options;
    if (this.#entries.length > most)
      this.#entries = this.#entries.slice(-(most - (most >> 4)));
  }

  #forgetOld(): void {
    const { clock, keptMs } = this.#options;
    const oldest = clock.now() - keptMs;
    let gone = 0;
    while (gone < this.size && this.#entries[gone]!.time < oldest) gone++;
    if (gone > 0) this.#entries = this.#entries.slice(gone);
  }
}
