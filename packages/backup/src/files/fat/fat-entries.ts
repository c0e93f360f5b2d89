const ENTRY = 32;
const DELETED = 0xe5;
const ATTRIBUTE = { volume: 0x08, folder: 0x10, longName: 0x0f } as const;
/** Parts of a long name at most: 255 characters. */
const MAX_PARTS = 20;

export interface FatEntry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly cluster: number;
  readonly size: number;
  /** Milliseconds since the epoch; FAT stores local time, which is taken as UTC. */
  readonly modified: number;
  /** Bytes from the beginning of the folder. */
  readonly position: number;
}

/** Reads the entries of a folder, block by block. */
export class FatEntries {
  readonly #is32: boolean;
  /** Parts of the long name that the next entry has, the last one first. */
  #parts: string[] = [];
  #checksum = -1;
  #position = 0;
  /** Whether the end of the folder was read. */
  ended = false;

  constructor(is32: boolean) {
    this.#is32 = is32;
  }

  *read(block: Buffer): Generator<FatEntry> {
    for (let at = 0; at + ENTRY <= block.length; at += ENTRY) {
      if (block[at] === 0) {
        this.ended = true;
        return;
      }
      const entry = block.subarray(at, at + ENTRY);
      const position = this.#position;
      this.#position += ENTRY;
      const attributes = entry[11]! & 0x3f;
      if (entry[0] === DELETED) this.#parts = [];
      else if (attributes === ATTRIBUTE.longName) this.#addPart(entry);
      else {
        const name = this.#nameOf(entry);
        this.#parts = [];
        if ((attributes & ATTRIBUTE.volume) !== 0) continue;
        if (name === "." || name === "..") continue;
        yield this.#entryOf(entry, { name, position, attributes });
      }
    }
  }

  #addPart(entry: Buffer): void {
    const order = entry[0]!;
    if ((order & 0x40) !== 0) {
      this.#parts = [];
      this.#checksum = entry[13]!;
    }
    if (entry[13] !== this.#checksum || this.#parts.length >= MAX_PARTS) {
      this.#parts = [];
      return;
    }
    this.#parts.push(
      entry.toString("utf16le", 1, 11) +
        entry.toString("utf16le", 14, 26) +
        entry.toString("utf16le", 28, 32),
    );
  }

  #nameOf(entry: Buffer): string {
    if (this.#parts.length > 0 && checksumOf(entry) === this.#checksum)
      return this.#parts.toReversed().join("").replace(/\0.*$/s, "");
    return shortNameOf(entry);
  }

  #entryOf(
    entry: Buffer,
    {
      attributes,
      ...rest
    }: {
      readonly name: string;
      readonly position: number;
      readonly attributes: number;
    },
  ): FatEntry {
    const high = this.#is32 ? entry.readUInt16LE(20) & 0x0fff : 0;
    return {
      ...rest,
      isFolder: (attributes & ATTRIBUTE.folder) !== 0,
      cluster: entry.readUInt16LE(26) + high * 65_536,
      size: entry.readUInt32LE(28),
      modified: timeOf(entry.readUInt16LE(24), entry.readUInt16LE(22)),
    };
  }
}

function checksumOf(entry: Buffer): number {
  let sum = 0;
  for (const byte of entry.subarray(0, 11))
    sum = (((sum & 1) << 7) + (sum >> 1) + byte) & 0xff;
  return sum;
}

function shortNameOf(entry: Buffer): string {
  // 0x05 stands for the first byte 0xE5; bits of byte 12 for lower case.
  const bytes = Buffer.from(entry.subarray(0, 11));
  if (bytes[0] === 5) bytes[0] = DELETED;
  const flags = entry[12]!;
  const part = (start: number, end: number, isLower: boolean) => {
    const text = bytes.toString("latin1", start, end).trimEnd();
    return isLower ? text.toLowerCase() : text;
  };
  const base = part(0, 8, (flags & 0x08) !== 0);
  const extension = part(8, 11, (flags & 0x10) !== 0);
  return extension === "" ? base : `${base}.${extension}`;
}

function timeOf(date: number, time: number): number {
  if (date === 0) return 0;
  return Date.UTC(
    1980 + (date >> 9),
    ((date >> 5) & 15) - 1,
    date & 31,
    time >> 11,
    (time >> 5) & 63,
    (time & 31) * 2,
  );
}
