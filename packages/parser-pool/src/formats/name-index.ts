interface Entry {
  readonly index: number;
  readonly name: Uint8Array;
  readonly next: Entry | undefined;
}

const SLOTS = 128;

/** Addresses in the memory of WebAssembly. */
interface NameIndexOffsets {
  readonly slotsAt: number;
  readonly entriesAt: number;
  readonly namesAt: number;
}

/** Hash table of names (columns, integer fields) that looks up keys by their bytes, without creating strings. */
export class NameIndex {
  /** Number of names. */
  readonly count: number;
  readonly #slots = new Array<Entry | undefined>(SLOTS).fill(undefined);

  constructor(names: readonly string[]) {
    this.count = names.length;
    names.forEach((text, index) => {
      const name = Buffer.from(text);
      const slot = slotOf(name, 0, name.length);
      this.#slots[slot] = { index, name, next: this.#slots[slot] };
    });
  }

  /**
   * Writes the index for assembly/split-records.ts: one byte per slot (entry plus
   * one), 16 bytes per entry (address and length of the name, index, next entry plus one).
   */
  writeTo(memory: Uint8Array, at: NameIndexOffsets): void {
    const view = new DataView(memory.buffer, memory.byteOffset);
    let entries = 0;
    let names = at.namesAt;
    this.#slots.forEach((first, slot) => {
      memory[at.slotsAt + slot] = first === undefined ? 0 : entries + 1;
      for (let entry = first; entry !== undefined; entry = entry.next) {
        const { name, index, next } = entry;
        const to = at.entriesAt + 16 * entries++;
        view.setUint32(to, names, true);
        view.setUint32(to + 4, name.length, true);
        view.setInt32(to + 8, index, true);
        view.setUint32(to + 12, next === undefined ? 0 : entries + 1, true);
        memory.set(name, names);
        names += name.length;
      }
    });
  }

  /** Index of the name in the list, or -1. */
  find(bytes: Uint8Array, offset: number, length: number): number {
    if (length === 0) return -1;
    let entry = this.#slots[slotOf(bytes, offset, length)];
    while (entry !== undefined) {
      if (entry.name.length === length && startsWith(bytes, offset, entry))
        return entry.index;
      entry = entry.next;
    }
    return -1;
  }
}

/** Hash of length, first and last byte: nearly unique among the fields of a class. */
function slotOf(bytes: Uint8Array, offset: number, length: number): number {
  const ends = bytes[offset]! * 7 + bytes[offset + length - 1]! * 31;
  return (length * 13 + ends) & (SLOTS - 1);
}

function startsWith(
  bytes: Uint8Array,
  offset: number,
  { name }: Entry,
): boolean {
  for (let i = 0; i < name.length; i++)
    if (bytes[offset + i] !== name[i]) return false;
  return true;
}
