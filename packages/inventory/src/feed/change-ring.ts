import { RECORD_STRIDE, RecordField, type Ref } from "@xo-server/model";

export type ChangeKind = "add" | "update" | "remove";

const kinds: readonly ChangeKind[] = ["add", "update", "remove"];
const ADD = kinds.indexOf("add");

/** Room for a reference in the ring: XAPI's have 46 bytes. */
const REF_ROOM = 64;
/** A slot: pool, class, kind, length of the reference, the reference. */
export const CHANGE_BYTES = 4 + 4 + 1 + 1 + REF_ROOM;
const FIRST_SLOTS = 256;
/** Growing moves every change: a first listing would make it do so all the time. */
const GROWTH = 16;

/** One object has changed. What it is now is read from the inventory. */
export interface Change {
  /** Counts all changes of the inventory; each has its own. */
  readonly revision: number;
  readonly poolId: string;
  readonly className: string;
  readonly ref: Ref;
  readonly kind: ChangeKind;
}

/**
 * Changes `first` to `last`, read where they stand in the ring: take what you
 * need in the turn you got them, later ones overwrite them.
 */
export interface ChangeBatch extends Iterable<Change> {
  readonly count: number;
  /** Revision of the first and of the last change; `last` is the cursor to go on from. */
  readonly first: number;
  readonly last: number;
  /** Without an object a change: `index` counts from 0. */
  poolId(index: number): string;
  className(index: number): string;
  kind(index: number): ChangeKind;
  ref(index: number): Ref;
}

/** Rows of a batch, for their references. */
export interface BatchRefs {
  readonly table: Int32Array;
  readonly bytes: Buffer;
}

/** Where a reference's bytes stand. */
export interface RefPlace {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly length: number;
}

/** The last changes, in typed arrays: no object and no string a change. Memory grows with use, up to its bound. */
export class ChangeRing {
  readonly #limit: number;
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** A longer reference than fits its room, by slot. */
  readonly #longRefs = new Map<number, Ref>();
  #slots = 0;
  #pools = new Int32Array(0);
  #classes = new Int32Array(0);
  #kinds = new Uint8Array(0);
  #refLengths = new Uint8Array(0);
  #refs = Buffer.alloc(0);
  #revision = 0;
  #oldest = 1;

  /** @param limit changes that are remembered, at least */
  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Revision of the last change; 0 before the first. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest change that is still there. */
  get oldest(): number {
    return this.#oldest;
  }

  get byteLength(): number {
    return this.#slots * CHANGE_BYTES;
  }

  get limitBytes(): number {
    return this.#limit * CHANGE_BYTES;
  }

  /** A number for a name, for `push`: small and for ever. */
  numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  /** @param owner numbers of pool and class */
  push(
    owner: { readonly pool: number; readonly class: number },
    kind: ChangeKind,
    ref: RefPlace,
  ): number {
    if (this.#revision - this.#oldest + 1 === this.#slots) this.#makeRoom();
    const slot = ++this.#revision % this.#slots;
    this.#pools[slot] = owner.pool;
    this.#classes[slot] = owner.class;
    this.#kinds[slot] = kinds.indexOf(kind);
    this.#putRef(slot, ref.bytes, ref.offset, ref.length);
    return this.#revision;
  }

  /** The same as `push` of an "add" for each of `count` rows, in one loop: see ClassTable.insertRun. */
  pushAdded(
    owner: { readonly pool: number; readonly class: number },
    { table, bytes }: BatchRefs,
    from: number,
    count: number,
  ): number {
    for (let i = from; i < from + count; i++) {
      if (this.#revision - this.#oldest + 1 === this.#slots) this.#makeRoom();
      const slot = ++this.#revision % this.#slots;
      this.#pools[slot] = owner.pool;
      this.#classes[slot] = owner.class;
      this.#kinds[slot] = ADD;
      const at = i * RECORD_STRIDE;
      this.#putRef(
        slot,
        bytes,
        table[at + RecordField.refOffset]!,
        table[at + RecordField.refLength]!,
      );
    }
    return this.#revision;
  }

  /** Changes after `revision`; undefined when some of them are forgotten, or never were. */
  since(revision: number): ChangeBatch | undefined {
    if (revision + 1 < this.#oldest || revision > this.#revision)
      return undefined;
    return new RingBatch(this, revision + 1, this.#revision);
  }

  poolAt(revision: number): string {
    return this.#names[this.#pools[revision % this.#slots]!]!;
  }

  classAt(revision: number): string {
    return this.#names[this.#classes[revision % this.#slots]!]!;
  }

  kindAt(revision: number): ChangeKind {
    return kinds[this.#kinds[revision % this.#slots]!]!;
  }

  refAt(revision: number): Ref {
    const slot = revision % this.#slots;
    const at = slot * REF_ROOM;
    return (
      this.#longRefs.get(slot) ??
      this.#refs.toString("utf8", at, at + this.#refLengths[slot]!)
    );
  }

  #putRef(slot: number, bytes: Buffer, offset: number, length: number): void {
    if (this.#longRefs.size > 0) this.#longRefs.delete(slot);
    if (length > REF_ROOM) {
      this.#longRefs.set(slot, bytes.toString("utf8", offset, offset + length));
      return;
    }
    this.#refLengths[slot] = length;
    const refs = this.#refs;
    const at = slot * REF_ROOM;
    for (let i = 0; i < length; i++) refs[at + i] = bytes[offset + i]!;
  }

  #makeRoom(): void {
    if (this.#slots >= this.#limit) this.#oldest++;
    else this.#grow(Math.min(this.#limit, this.#slots * GROWTH || FIRST_SLOTS));
  }

  /** A change's slot follows from its revision, so all move. */
  #grow(slots: number): void {
    const old = {
      slots: this.#slots,
      pools: this.#pools,
      classes: this.#classes,
      kinds: this.#kinds,
      refLengths: this.#refLengths,
      refs: this.#refs,
      longRefs: new Map(this.#longRefs),
    };
    this.#slots = slots;
    this.#pools = new Int32Array(slots);
    this.#classes = new Int32Array(slots);
    this.#kinds = new Uint8Array(slots);
    this.#refLengths = new Uint8Array(slots);
    this.#refs = Buffer.alloc(slots * REF_ROOM);
    this.#longRefs.clear();
    for (let one = this.#oldest; one <= this.#revision;) {
      const from = one % old.slots;
      const to = one % slots;
      // As far as both rings go on without a turn.
      const count = Math.min(
        old.slots - from,
        slots - to,
        this.#revision - one + 1,
      );
      const end = from + count;
      this.#pools.set(old.pools.subarray(from, end), to);
      this.#classes.set(old.classes.subarray(from, end), to);
      this.#kinds.set(old.kinds.subarray(from, end), to);
      this.#refLengths.set(old.refLengths.subarray(from, end), to);
      const refs = old.refs.subarray(from * REF_ROOM, end * REF_ROOM);
      this.#refs.set(refs, to * REF_ROOM);
      for (const [slot, ref] of old.longRefs)
        if (slot >= from && slot < end)
          this.#longRefs.set(to + slot - from, ref);
      one += count;
    }
  }
}

class RingBatch implements ChangeBatch {
  readonly #ring: ChangeRing;
  readonly first: number;
  readonly last: number;

  constructor(ring: ChangeRing, first: number, last: number) {
    this.#ring = ring;
    this.first = first;
    this.last = last;
  }

  get count(): number {
    return this.last - this.first + 1;
  }

  poolId(index: number): string {
    return this.#ring.poolAt(this.first + index);
  }

  className(index: number): string {
    return this.#ring.classAt(this.first + index);
  }

  kind(index: number): ChangeKind {
    return this.#ring.kindAt(this.first + index);
  }

  ref(index: number): Ref {
    return this.#ring.refAt(this.first + index);
  }

  *[Symbol.iterator](): Iterator<Change> {
    for (let index = 0; index < this.count; index++)
      yield {
        revision: this.first + index,
        poolId: this.poolId(index),
        className: this.className(index),
        ref: this.ref(index),
        kind: this.kind(index),
      };
  }
}
