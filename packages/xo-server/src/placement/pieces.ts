import type { Steps } from "@xo-server/inventory";
import { deserialize, serialize } from "node:v8";

/**
 * A value on its way between threads, in pieces small enough that neither
 * writing nor reading one holds a thread for long. Long lists of objects of
 * the value, at any depth of plain objects, are cut out of it.
 */
export interface Packed {
  /** The value, with empty lists where they were long. */
  readonly root: Uint8Array<ArrayBuffer>;
  readonly pieces: readonly Piece[];
}

interface Piece {
  /** Keys that lead to the list that it is of. */
  readonly path: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Items of a piece: objects of some 300 bytes, 1 to 2 us each. */
const ITEMS = 64;
/** A list in a list is part of its item. */
const DEEPEST = 4;

/** Its steps write a value; `packed` has it then. */
export class Packing {
  readonly #value: unknown;
  readonly #pieces: Piece[] = [];
  #root: Uint8Array<ArrayBuffer> | undefined;

  constructor(value: unknown) {
    this.#value = value;
  }

  *steps(): Steps {
    const root = yield* this.#withoutLists(this.#value, []);
    this.#root = toBytes(root);
  }

  get packed(): Packed {
    return { root: this.#root!, pieces: this.#pieces };
  }

  *#withoutLists(
    value: unknown,
    path: readonly string[],
  ): Generator<void, unknown, void> {
    if (Array.isArray(value)) {
      const list = value as readonly unknown[];
      if (list.length <= ITEMS || path.length === 0) return list;
      for (let at = 0; at < list.length; at += ITEMS) {
        const bytes = toBytes(list.slice(at, at + ITEMS));
        this.#pieces.push({ path, bytes });
        yield;
      }
      return [];
    }
    if (!isPlain(value) || path.length >= DEEPEST) return value;
    const made: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value))
      made.push([key, yield* this.#withoutLists(member, [...path, key])]);
    return Object.fromEntries(made);
  }
}

/** Its steps read a value; `value` has it then. Bytes are those of a thread of this program. */
export class Unpacking {
  readonly #packed: Packed;
  value: unknown;

  constructor(packed: Packed) {
    this.#packed = packed;
  }

  *steps(): Steps {
    this.value = deserialize(this.#packed.root);
    for (const { path, bytes } of this.#packed.pieces) {
      const list = path.reduce(
        (at, key) => (at as Record<string, unknown>)[key],
        this.value,
      );
      (list as unknown[]).push(...(deserialize(bytes) as unknown[]));
      yield;
    }
  }
}

/** All in one go: for a thread that has nothing else to do. */
export function atOnce(steps: Steps): void {
  while (steps.next().done !== true);
}

export function buffersOf({ root, pieces }: Packed): ArrayBuffer[] {
  return [root.buffer, ...pieces.map(({ bytes }) => bytes.buffer)];
}

/** In memory of its own, so that it can be handed over. */
function toBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(serialize(value));
}

function isPlain(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}
