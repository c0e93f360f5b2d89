import { RECORD_STRIDE, RecordField, type Ref } from "@xo-server/model";
import type {
  BatchRefs,
  ChangeKind,
  ChangeOwner,
  RefLocation,
} from "./change-recorder.js";

const kinds: readonly ChangeKind[] = ["add", "update", "remove"];
const ADD = kinds.indexOf("add");

/** Bytes reserved for a reference: XAPI's have 46 (`OpaqueRef:` and a UUID). */
const REF_BYTES = 64;
/**
 * Bytes of a change: pool and class number, kind, length of the reference, the
 * reference.
 */
export const CHANGE_BYTES = 4 + 4 + 1 + 1 + REF_BYTES;
const INITIAL_SLOTS = 256;
/**
 * Growing copies all changes, so it grows by a large factor: a first listing
 * fills the ring quickly.
 */
const GROWTH_FACTOR = 16;

/**
 * A change of one object. It has no content: the current record is read from
 * the inventory.
 */
export interface Change {
  /** Sequence number over all changes of the inventory, from 1. */
  readonly revision: number;
  readonly poolId: string;
  readonly className: string;
  readonly ref: Ref;
  readonly kind: ChangeKind;
}

/**
 * Changes `first` to `last`, read from the ring without a copy: valid only in
 * the turn of the event loop in which the batch was received, because later
 * changes overwrite it.
 */
export interface ChangeBatch extends Iterable<Change> {
  readonly count: number;
  /**
   * Revisions of the first and the last change; `last` is the cursor for the
   * next `since`.
   */
  readonly first: number;
  readonly last: number;
  /** The fields of a change without allocating an object; `index` counts from 0. */
  poolId(index: number): string;
  className(index: number): string;
  kind(index: number): ChangeKind;
  ref(index: number): Ref;
}

/**
 * Ring buffer of the last changes in typed arrays: no object and no string per
 * change. It grows with use up to its limit.
 */
export class ChangeRing {
  readonly #limit: number;
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** References longer than REF_BYTES, by slot. */
  readonly #longRefs = new Map<number, Ref>();
  #slots = 0;
  // One array per field of a slot.
  #pools = new Int32Array(0);
  #classes = new Int32Array(0);
  #kinds = new Uint8Array(0);
  #refLengths = new Uint8Array(0);
  #refs = Buffer.alloc(0);
  #revision = 0;
  #oldest = 1;

  /** @param limit number of changes that are stored, at least */
  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Revision of the last change; 0 before the first. */
  get revision(): number {
    return this.#revision;
  }

  /** Revision of the oldest change that is stored. */
  get oldest(): number {
    return this.#oldest;
  }

  get byteLength(): number {
    return this.#slots * CHANGE_BYTES;
  }

  get limitBytes(): number {
    return this.#limit * CHANGE_BYTES;
  }

  /** A small number for a pool id or class name. Numbers are never reused. */
  numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  /**
   * @param owner numbers of pool id and class name, see `numberOf`
   * @returns the revision of the change
   */
  push(owner: ChangeOwner, kind: ChangeKind, ref: RefLocation): number {
    if (this.#revision - this.#oldest + 1 === this.#slots) this.#reserveSlot();
    const slot = ++this.#revision % this.#slots;
    this.#pools[slot] = owner.pool;
    this.#classes[slot] = owner.class;
    this.#kinds[slot] = kinds.indexOf(kind);
    this.#putRef(slot, ref.bytes, ref.offset, ref.length);
    return this.#revision;
  }

  /**
   * The same as `push` with "add" for each of `count` rows from `from`, in one
   * loop: see ClassTable.insertMany.
   */
  pushAdded(
    owner: ChangeOwner,
    { table, bytes }: BatchRefs,
    from: number,
    count: number,
  ): number {
    for (let i = from; i < from + count; i++) {
      if (this.#revision - this.#oldest + 1 === this.#slots)
        this.#reserveSlot();
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

  /** Counts `count` changes without storing them, and drops all earlier changes. */
  skip(count: number): void {
    this.#revision += count;
    this.#oldest = this.#revision + 1;
    this.#longRefs.clear();
  }

  /**
   * Changes after `revision`; undefined when some are no longer stored, or the
   * revision is in the future.
   */
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
    const at = slot * REF_BYTES;
    return (
      this.#longRefs.get(slot) ??
      this.#refs.toString("utf8", at, at + this.#refLengths[slot]!)
    );
  }

  #putRef(slot: number, bytes: Buffer, offset: number, length: number): void {
    if (this.#longRefs.size > 0) this.#longRefs.delete(slot);
    if (length > REF_BYTES) {
      this.#longRefs.set(slot, bytes.toString("utf8", offset, offset + length));
      return;
    }
    this.#refLengths[slot] = length;
    const refs = this.#refs;
    const at = slot * REF_BYTES;
    for (let i = 0; i < length; i++) refs[at + i] = bytes[offset + i]!;
  }

  /** Frees the slot of the oldest change, or grows below the limit. */
  #reserveSlot(): void {
    if (this.#slots >= this.#limit) this.#oldest++;
    else
      this.#grow(
        Math.min(this.#limit, this.#slots * GROWTH_FACTOR || INITIAL_SLOTS),
      );
  }

  /** Slots are revisions modulo the size, so all changes move. */
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
    this.#refs = Buffer.alloc(slots * REF_BYTES);
    this.#longRefs.clear();
    for (let revision = this.#oldest; revision <= this.#revision;) {
      const from = revision % old.slots;
      const to = revision % slots;
      // Copy in runs that wrap around in neither ring.
      const count = Math.min(
        old.slots - from,
        slots - to,
        this.#revision - revision + 1,
      );
      const end = from + count;
      this.#pools.set(old.pools.subarray(from, end), to);
      this.#classes.set(old.classes.subarray(from, end), to);
      this.#kinds.set(old.kinds.subarray(from, end), to);
      this.#refLengths.set(old.refLengths.subarray(from, end), to);
      const refs = old.refs.subarray(from * REF_BYTES, end * REF_BYTES);
      this.#refs.set(refs, to * REF_BYTES);
      for (const [slot, ref] of old.longRefs)
        if (slot >= from && slot < end)
          this.#longRefs.set(to + slot - from, ref);
      revision += count;
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
