import { createHash } from "node:crypto";
import { badAnswer } from "./bad-input.js";

/** Entries are `AVERAGE:vm:<uuid>:memory`; names may contain colons. */
const PREFIX = Buffer.from("AVERAGE:");
const COLON = 0x3a;
const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;

/**
 * Maximum of data sources of one object, whose names become a table on the main
 * thread at once. A host with 448 CPUs has about 9,000: for each CPU its load and
 * the time in each of its power states.
 */
const MAX_NAMES = 16_384;

/** The decoded legend: which object and data source each column of a table has. */
interface ReadLegend {
  /** Equal legends have equal keys. */
  readonly key: string;
  /** Number of columns in the table. */
  readonly columns: number;
  /** Index in the table for each column of the answer; -1: left out. */
  readonly positions: Int32Array;
  /** See XportTable. */
  text(): Uint8Array<ArrayBuffer>;
}

/**
 * Collects the entries of a legend and groups the columns by object, in any
 * order. Entries without `AVERAGE` are left out. No text is created for a
 * legend that the caller already has.
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

  /** @throws XoError BAD_ANSWER: an object has too many data sources */
  read(): ReadLegend {
    const bytes = this.#bytes.subarray(0, this.#used);
    const key = createHash("sha1").update(bytes).digest("base64");
    const entries = this.#group();
    const starts = startsOf(entries);
    const positions = new Int32Array(this.length).fill(-1);
    let columns = 0;
    for (const [i, { group }] of entries.entries()) {
      if (group < 0) continue;
      positions[i] = starts[group]!++;
      columns++;
    }
    return { key, columns, positions, text: () => this.#write(entries) };
  }

  /** Entries of one object are usually adjacent: only the first one needs a lookup. */
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

  /** Separators of names and lines must not occur in names. */
  #text(from: number, to: number): string {
    const part = this.#bytes.subarray(from, to);
    for (const [i, byte] of part.entries())
      if (byte === TAB || byte === NEWLINE) part[i] = SPACE;
    return part.toString();
  }
}

/** An entry in the bytes: its start, the colon after the UUID, its end. */
interface Entry {
  /** Index of its object; -1: left out. */
  readonly group: number;
  readonly from: number;
  readonly owner: number;
  readonly to: number;
}

/** Position of the colon after the UUID; -1: none. */
function ownerEnd(bytes: Buffer, from: number, to: number): number {
  for (let i = 0; i < PREFIX.length; i++)
    if (bytes[from + i] !== PREFIX[i]) return -1;
  let colons = 0;
  for (let at = from + PREFIX.length; at < to; at++)
    if (bytes[at] === COLON && ++colons === 2) return at;
  return -1;
}

/** First column of each group. @throws XoError BAD_ANSWER */
function startsOf(entries: readonly Entry[]): number[] {
  const counts: number[] = [];
  for (const { group } of entries)
    if (group >= 0) counts[group] = (counts[group] ?? 0) + 1;
  if (counts.some((count) => count > MAX_NAMES))
    throw badAnswer(`an object with more than ${MAX_NAMES} data sources`);
  let sum = 0;
  return counts.map((count) => (sum += count) - count);
}
