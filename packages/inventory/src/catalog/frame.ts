import type { Frame, TypeSummary, ViewChange } from "./catalog.js";

/** What a change takes beside its bytes, by estimate. */
const CHANGE_BYTES = 512;

export interface FrameContent {
  readonly className: string;
  readonly first: number;
  readonly changes: readonly ViewChange[];
  readonly summaries: ReadonlyMap<string, TypeSummary>;
}

/** A frame that is encoded once for each dress, whoever asks. */
export class EncodedOnce implements Frame {
  readonly className: string;
  readonly first: number;
  readonly last: number;
  readonly changes: readonly ViewChange[];
  readonly summaries: ReadonlyMap<string, TypeSummary>;
  /** Called with the bytes that the frame has grown by. */
  onGrown: (bytes: number) => void = () => undefined;
  readonly #dresses = new Map<string, Buffer>();
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

  encoded(dress: string, encode: (frame: Frame) => Buffer): Buffer {
    const known = this.#dresses.get(dress);
    if (known !== undefined) return known;
    const bytes = encode(this);
    this.#dresses.set(dress, bytes);
    this.#byteLength += bytes.length;
    this.onGrown(bytes.length);
    return bytes;
  }
}

function sizeOf({ json, patch }: ViewChange): number {
  return CHANGE_BYTES + (json?.length ?? 0) + (patch?.length ?? 0);
}
