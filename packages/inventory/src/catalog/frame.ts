import type { Frame, TypeSummary, ViewChange } from "./catalog.js";

/** Estimated memory of a change in addition to its bytes. */
const CHANGE_BYTES = 512;

export interface FrameContent {
  readonly className: string;
  readonly first: number;
  readonly changes: readonly ViewChange[];
  readonly summaries: ReadonlyMap<string, TypeSummary>;
}

/** A frame that caches its encodings. */
export class EncodedFrame implements Frame {
  readonly className: string;
  readonly first: number;
  readonly last: number;
  readonly changes: readonly ViewChange[];
  readonly summaries: ReadonlyMap<string, TypeSummary>;
  /** Called with the number of bytes that a new encoding has added. */
  onGrow: (bytes: number) => void = () => undefined;
  /** By name of the encoding. */
  readonly #encodings = new Map<string, Buffer>();
  #byteLength: number;

  constructor({ className, first, changes, summaries }: FrameContent) {
    this.className = className;
    this.first = first;
    this.last = first + changes.length - 1;
    this.changes = changes;
    this.summaries = summaries;
    this.#byteLength = changes.reduce((sum, one) => sum + sizeOf(one), 0);
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  encoded(encoding: string, encode: (frame: Frame) => Buffer): Buffer {
    const cached = this.#encodings.get(encoding);
    if (cached !== undefined) return cached;
    const bytes = encode(this);
    this.#encodings.set(encoding, bytes);
    this.#byteLength += bytes.length;
    this.onGrow(bytes.length);
    return bytes;
  }
}

function sizeOf({ json, patch }: ViewChange): number {
  return CHANGE_BYTES + (json?.length ?? 0) + (patch?.length ?? 0);
}
