import { InvalidModel } from "../invalid-model.js";

/** Ids and the numbers that stand for them: 0, 1, ... in the order of ids, so that plans do not depend on the order of lists. */
export class Numbered {
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
   * @returns the numbers, and the items in their order
   * @throws InvalidModel for an id that is there twice
   */
  static of<T extends { readonly id: string }>(
    noun: string,
    items: readonly T[],
  ): { readonly numbered: Numbered; readonly items: readonly T[] } {
    const sorted = isSorted(items)
      ? items
      : [...items].sort((a, b) => (a.id < b.id ? -1 : 1));
    const numbers = new Map<string, number>();
    for (const { id } of sorted) {
      if (numbers.has(id))
        throw new InvalidModel(`${noun} ${id} is there twice`);
      numbers.set(id, numbers.size);
    }
    const ids = sorted.map(({ id }) => id);
    return { numbered: new Numbered(noun, ids, numbers), items: sorted };
  }

  /** @returns the same with one more id, the last; copies the ids, not in proportion to anything else */
  with(id: string): Numbered {
    const numbers = new Map(this.#numbers);
    numbers.set(id, this.ids.length);
    return new Numbered(this.#noun, [...this.ids, id], numbers);
  }

  get size(): number {
    return this.ids.length;
  }

  find(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  /** @throws InvalidModel */
  of(id: string): number {
    const number = this.#numbers.get(id);
    if (number === undefined)
      throw new InvalidModel(`there is no ${this.#noun} ${id}`);
    return number;
  }
}

function isSorted(items: readonly { readonly id: string }[]): boolean {
  return items.every(
    ({ id }, index) => index === 0 || items[index - 1]!.id < id,
  );
}
