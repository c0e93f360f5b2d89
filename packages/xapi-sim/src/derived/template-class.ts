import { PlaceKind, type PoolTransform } from "./pool-transform.js";

/** A uuid, alone or in a reference; how names of the template begin; its hosts' addresses. */
const PLACES =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"p000-|"127\.100\./g;

interface TemplateEntry {
  readonly ref: string;
  readonly uuid: string | undefined;
  /** Length of the record's JSON in bytes. */
  readonly length: number;
}

/**
 * The listing of one class, rendered once, with all that differs between pools:
 *
 *   {"OpaqueRef:1":{...},"OpaqueRef:2":{...}}
 *    ^start of 0   ^record 0      end of 0 = end of its record
 */
export class TemplateClass {
  readonly refs: readonly string[];
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #positions: Uint32Array;
  readonly #kinds: Uint8Array;
  readonly #byRef: ReadonlyMap<string, number>;
  readonly #byUuid = new Map<string, number>();

  /** @param bytes the listing */
  constructor(bytes: Buffer, entries: readonly TemplateEntry[]) {
    this.#bytes = bytes;
    this.refs = entries.map(({ ref }) => ref);
    this.#byRef = new Map(this.refs.map((ref, i) => [ref, i]));
    this.#starts = new Uint32Array(entries.length);
    this.#ends = new Uint32Array(entries.length);
    let at = 1;
    entries.forEach(({ ref, uuid, length }, i) => {
      if (uuid !== undefined) this.#byUuid.set(uuid, i);
      this.#starts[i] = at;
      this.#ends[i] = at + ref.length + '"":'.length + length;
      at = this.#ends[i] + 1;
    });
    const found = findPositions(bytes);
    this.#positions = Uint32Array.from(found, ([position]) => position);
    this.#kinds = Uint8Array.from(found, ([, kind]) => kind);
  }

  get count(): number {
    return this.refs.length;
  }

  /** -1 where there is none. */
  indexOf(ref: string): number {
    return this.#byRef.get(ref) ?? -1;
  }

  /** -1 where there is none. */
  indexOfUuid(uuid: string): number {
    return this.#byUuid.get(uuid) ?? -1;
  }

  /** The record of one entry. */
  record(index: number, transform: PoolTransform): Buffer {
    const from = this.#starts[index]! + this.refs[index]!.length + '"":'.length;
    return this.#derived(from, this.#ends[index]!, transform);
  }

  /** Bytes of the entries `first` to before `last`, with the commas between them. */
  length(first: number, last: number): number {
    return first >= last ? 0 : this.#ends[last - 1]! - this.#starts[first]!;
  }

  /** These entries, about `size` bytes at a time. */
  *pieces(
    first: number,
    last: number,
    {
      transform,
      size,
    }: { readonly transform: PoolTransform; readonly size: number },
  ): Generator<Buffer> {
    if (first >= last) return;
    let from = this.#starts[first]!;
    for (let i = first; i < last; i++) {
      // Behind the comma: a position never spans two pieces.
      const end = i === last - 1 ? this.#ends[i]! : this.#starts[i + 1]!;
      if (end - from < size && i < last - 1) continue;
      yield this.#derived(from, end, transform);
      from = end;
    }
  }

  #derived(from: number, to: number, transform: PoolTransform): Buffer {
    const bytes = Buffer.allocUnsafeSlow(to - from);
    this.#bytes.copy(bytes, 0, from, to);
    const positions = this.#positions;
    for (let i = firstFrom(positions, from); i < positions.length; i++) {
      if (positions[i]! >= to) break;
      transform.apply(bytes, positions[i]! - from, this.#kinds[i]!);
    }
    return bytes;
  }
}

function findPositions(bytes: Buffer): [position: number, kind: number][] {
  const found: [number, number][] = [];
  // One character a byte: indexes are offsets.
  for (const { 0: text, index } of bytes.toString("latin1").matchAll(PLACES))
    if (text.startsWith('"p')) found.push([index + 2, PlaceKind.name]);
    else if (text.startsWith('"1')) found.push([index + 5, PlaceKind.address]);
    else found.push([index, PlaceKind.id]);
  return found;
}

/** Index of the first position that is not before `from`. */
function firstFrom(positions: Uint32Array, from: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (positions[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
