import type { Steps } from "@xo-server/inventory";
import { deserialize, serialize } from "node:v8";

/**
 * A value serialized for another thread in chunks, so that neither writing nor
 * reading blocks a thread for long. Long lists, at any depth of plain objects,
 * are stored as chunks.
 */
export interface SerializedValue {
  /** The value with empty lists in place of long ones. */
  readonly root: Uint8Array<ArrayBuffer>;
  readonly chunks: readonly Chunk[];
}

interface Chunk {
  /** Keys that lead to the list. */
  readonly path: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** List items per chunk. Items are objects of about 300 bytes and take 1 to 2 us each. */
const ITEMS_PER_CHUNK = 64;
/** Lists inside list items are not split. */
const MAX_DEPTH = 4;

/** Serializes a value in steps; then `result` is available. */
export class SlicedSerializer {
  readonly #value: unknown;
  readonly #pieces: Chunk[] = [];
  #root: Uint8Array<ArrayBuffer> | undefined;

  constructor(value: unknown) {
    this.#value = value;
  }

  *steps(): Steps {
    const root = yield* this.#withoutLists(this.#value, []);
    this.#root = toBytes(root);
  }

  get result(): SerializedValue {
    return { root: this.#root!, chunks: this.#pieces };
  }

  *#withoutLists(
    value: unknown,
    path: readonly string[],
  ): Generator<void, unknown, void> {
    if (Array.isArray(value)) {
      const list = value as readonly unknown[];
      if (list.length <= ITEMS_PER_CHUNK || path.length === 0) return list;
      for (let at = 0; at < list.length; at += ITEMS_PER_CHUNK) {
        const bytes = toBytes(list.slice(at, at + ITEMS_PER_CHUNK));
        this.#pieces.push({ path, bytes });
        yield;
      }
      return [];
    }
    if (!isPlain(value) || path.length >= MAX_DEPTH) return value;
    const created: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value))
      created.push([key, yield* this.#withoutLists(member, [...path, key])]);
    return Object.fromEntries(created);
  }
}

/**
 * Deserializes in steps; then `value` is available. Only for data of a thread
 * of this process.
 */
export class SlicedDeserializer {
  readonly #packed: SerializedValue;
  value: unknown;

  constructor(packed: SerializedValue) {
    this.#packed = packed;
  }

  *steps(): Steps {
    this.value = deserialize(this.#packed.root);
    for (const { path, bytes } of this.#packed.chunks) {
      const list = path.reduce(
        (at, key) => (at as Record<string, unknown>)[key],
        this.value,
      );
      (list as unknown[]).push(...(deserialize(bytes) as unknown[]));
      yield;
    }
  }
}

/** Runs all steps without slices, for a thread without other work. */
export function runToEnd(steps: Steps): void {
  while (steps.next().done !== true);
}

/** The buffers to transfer, so that they are not copied to the other thread. */
export function buffersOf({
  root,
  chunks: pieces,
}: SerializedValue): ArrayBuffer[] {
  return [root.buffer, ...pieces.map(({ bytes }) => bytes.buffer)];
}

/** A copy in a separate buffer, which can be transferred. */
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
