import { InvalidModel } from "../model/invalid-model.js";

/**
 * Maps ids to numbers 0, 1, ... in the order of the ids, so that plans do not
 * depend on the order of lists.
 */
export class IdIndex {
  readonly ids: readonly string[];
  readonly #numbers: Map<string, number>;
  readonly #noun: string;

  private constructor(
    noun: string,
    ids: readonly string[],
    numbers: Map<string, number>,
  ) {
    this.#noun = noun;
    this.ids = ids;
    this.#numbers = numbers;
  }

  /**
   * Sorts `items` by id.
   * @returns the index, and the items in its order
   * @throws InvalidModel for a duplicate id
   */
  static of<T extends { readonly id: string }>(
    noun: string,
    items: readonly T[],
  ): { readonly numbered: IdIndex; readonly items: readonly T[] } {
    const sorted = isSorted(items)
      ? items
      : [...items].sort((a, b) => (a.id < b.id ? -1 : 1));
    const numbers = new Map<string, number>();
    for (const { id } of sorted) {
      if (numbers.has(id)) throw new InvalidModel(`duplicate ${noun} ${id}`);
      numbers.set(id, numbers.size);
    }
    const ids = sorted.map(({ id }) => id);
    return { numbered: new IdIndex(noun, ids, numbers), items: sorted };
  }

  /** @returns a copy with one more id, which gets the next number */
  with(id: string): IdIndex {
    const numbers = new Map(this.#numbers);
    numbers.set(id, this.ids.length);
    return new IdIndex(this.#noun, [...this.ids, id], numbers);
  }

  get size(): number {
    return this.ids.length;
  }

  find(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  /** @throws InvalidModel for an unknown id */
  of(id: string): number {
    const number = this.#numbers.get(id);
    if (number === undefined)
      throw new InvalidModel(`unknown ${this.#noun} ${id}`);
    return number;
  }
}

function isSorted(items: readonly { readonly id: string }[]): boolean {
  return items.every(
    ({ id }, index) => index === 0 || items[index - 1]!.id < id,
  );
}
