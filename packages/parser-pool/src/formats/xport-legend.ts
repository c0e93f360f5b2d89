import { createHash } from "node:crypto";

/** `AVERAGE:vm:<uuid>:memory`; names may have colons. */
const PREFIX = Buffer.from("AVERAGE:");
const COLON = 0x3a;
const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;

/** Whose the columns are, in the order in which a table has them. */
export interface ReadLegend {
  /** The same legends have the same key. */
  readonly key: string;
  /** Number of columns in the table. */
  readonly columns: number;
  /** For each column as it came its place in the table; -1: not what we asked for. */
  readonly places: Int32Array;
  /** See XportTable. */
  text(): Uint8Array<ArrayBuffer>;
}

/**
 * Collects the entries of a legend and brings the columns of each object
 * together, in whatever order they come. What is no `AVERAGE` of anything is
 * left out. No text is made where the legend is one that is known already.
 */
export class LegendBuilder {
  #bytes = Buffer.allocUnsafe(16 * 1024);
  #used = 0;
  /** Where each entry ends in the bytes. */
  readonly #ends: number[] = [];

  get length(): number {
    return this.#ends.length;
  }

  /** @param entry copied */
  add(entry: Uint8Array): void {
    if (this.#used + entry.length + 1 > this.#bytes.length) {
      const room = 2 * (this.#bytes.length + entry.length);
      const grown = Buffer.allocUnsafe(room);
      this.#bytes.copy(grown, 0, 0, this.#used);
      this.#bytes = grown;
    }
    this.#bytes.set(entry, this.#used);
    this.#used += entry.length;
    this.#ends.push(this.#used);
    this.#bytes[this.#used++] = NEWLINE;
  }

  read(): ReadLegend {
    const bytes = this.#bytes.subarray(0, this.#used);
    const key = createHash("sha1").update(bytes).digest("base64");
    const entries = this.#group();
    const starts = startsOf(entries);
    const places = new Int32Array(this.length).fill(-1);
    let columns = 0;
    for (const [i, { group }] of entries.entries()) {
      if (group < 0) continue;
      places[i] = starts[group]!++;
      columns++;
    }
    return { key, columns, places, text: () => this.#write(entries) };
  }

  /** Entries of one object usually stand together: only the first of them is looked up. */
  #group(): readonly Entry[] {
    const bytes = this.#bytes;
    const groups = new Map<string, number>();
    let from = 0;
    let last: Entry = { group: -1, from: 0, owner: 0, to: 0 };
    return this.#ends.map((to) => {
      const owner = ownerEnd(bytes, from, to);
      let group = -1;
      if (owner >= 0) {
        const isSame =
          last.group >= 0 &&
          bytes.compare(bytes, last.from, last.owner, from, owner) === 0;
        if (isSame) group = last.group;
        else {
          const name = bytes.toString("latin1", from + PREFIX.length, owner);
          group = groups.get(name) ?? groups.size;
          groups.set(name, group);
        }
      }
      const entry = { group, from, owner, to };
      if (group >= 0) last = entry;
      from = to + 1;
      return entry;
    });
  }

  #write(entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
    const lines: string[] = [];
    for (const { group, from, owner, to } of entries) {
      if (group < 0) continue;
      const of = () => this.#text(from + PREFIX.length, owner).split(":");
      lines[group] =
        `${lines[group] ?? of().join("\t")}\t${this.#text(owner + 1, to)}`;
    }
    return new Uint8Array(Buffer.from(lines.join("\n")));
  }

  /** What separates names and lines is no part of them. */
  #text(from: number, to: number): string {
    const part = this.#bytes.subarray(from, to);
    for (const [i, byte] of part.entries())
      if (byte === TAB || byte === NEWLINE) part[i] = SPACE;
    return part.toString();
  }
}

/** An entry in the bytes: its start, the colon behind its owner's uuid, its end. */
interface Entry {
  /** Number of its owner; -1: left out. */
  readonly group: number;
  readonly from: number;
  readonly owner: number;
  readonly to: number;
}

/** Place of the colon behind the owner's uuid; -1: there is none. */
function ownerEnd(bytes: Buffer, from: number, to: number): number {
  for (let i = 0; i < PREFIX.length; i++)
    if (bytes[from + i] !== PREFIX[i]) return -1;
  let colons = 0;
  for (let at = from + PREFIX.length; at < to; at++)
    if (bytes[at] === COLON && ++colons === 2) return at;
  return -1;
}

/** First column of each group. */
function startsOf(entries: readonly Entry[]): number[] {
  const counts: number[] = [];
  for (const { group } of entries)
    if (group >= 0) counts[group] = (counts[group] ?? 0) + 1;
  let sum = 0;
  return counts.map((count) => (sum += count) - count);
}
