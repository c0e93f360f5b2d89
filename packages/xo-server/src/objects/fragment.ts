import type { ViewTable } from "@xo-server/inventory";

/**
 * Size at which a fragment is sent, in bytes: large enough for a low cost per byte,
 * small enough for one slice.
 */
const FULL_BYTES = 256 * 1024;

/** Capacity of a fragment, in bytes. Only few objects are larger than the reserve. */
const ROOM_BYTES = FULL_BYTES + FULL_BYTES / 4;

/** Maximum number of buffers that are kept for reuse. */
const MAX_KEPT = 32;

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
/** Length of a UUID as a key, with quotes and colon. */
const UUID_KEY_BYTES = 39;

/** A part of a large response, under construction. */
export class Fragment {
  #bytes: Buffer;
  #length = 0;

  /** @param room the buffer that is filled */
  constructor(room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)) {
    this.#bytes = room;
  }

  get isFull(): boolean {
    return this.#length >= FULL_BYTES;
  }

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  addText(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  addBytes(bytes: Buffer): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  addComma(): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = COMMA;
  }

  /** Adds the id of an object and a colon, as JSON. */
  addKey(table: Pick<ViewTable, "id" | "writeId">, row: number): void {
    this.#makeRoom(UUID_KEY_BYTES);
    const bytes = this.#bytes;
    const at = this.#length;
    const length = table.writeId(row, bytes, at + 1);
    if (length === 0) {
      this.addText(`${JSON.stringify(table.id(row))}:`);
      return;
    }
    bytes[at] = bytes[at + 1 + length] = QUOTE;
    bytes[at + 2 + length] = COLON;
    this.#length = at + 3 + length;
  }

  /** Returns the bytes. Nothing may be added afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #makeRoom(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(
      Math.max(needed, 2 * this.#bytes.length),
    );
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/**
 * Keeps the buffers of fragments for reuse: allocating them for every list would
 * cause a major garbage collection each time.
 */
export class Fragments {
  readonly #free: Buffer[] = [];
  readonly #own = new WeakMap<ArrayBufferLike, Buffer>();

  begin(): Fragment {
    return new Fragment(this.#free.pop() ?? this.#makeRoom());
  }

  /** Returns the buffer of a finished fragment for reuse. Other buffers are ignored. */
  recycle(part: Buffer): void {
    const room = this.#own.get(part.buffer);
    if (room === undefined || this.#free.includes(room)) return;
    if (this.#free.length < MAX_KEPT) this.#free.push(room);
  }

  #makeRoom(): Buffer {
    const room = Buffer.allocUnsafeSlow(ROOM_BYTES);
    this.#own.set(room.buffer, room);
    return room;
  }
}
