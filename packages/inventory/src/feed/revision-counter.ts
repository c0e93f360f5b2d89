import type { ChangeRecorder } from "./change-recorder.js";

/**
 * Only counts changes, for stores without readers, such as one whose content
 * another store adopts.
 */
export class RevisionCounter implements ChangeRecorder {
  readonly #numbers = new Map<string, number>();
  #revision = 0;

  get revision(): number {
    return this.#revision;
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  push(): number {
    return ++this.#revision;
  }

  pushAdded(
    _owner: unknown,
    _rows: unknown,
    _from: number,
    count: number,
  ): number {
    return (this.#revision += count);
  }

  skip(count: number): number {
    const first = this.#revision + 1;
    this.#revision += count;
    return first;
  }
}
