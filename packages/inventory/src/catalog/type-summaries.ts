import type { TypeSummary } from "./catalog.js";
import {
  addDigest,
  EMPTY_DIGEST,
  subtractDigest,
  type Digest,
} from "./digest.js";

const EMPTY_SUMMARY: TypeSummary = { count: 0, digest: EMPTY_DIGEST };

/** Count and digest of the objects of each type, updated incrementally. */
export class TypeSummaries {
  readonly #summaries = new Map<string, TypeSummary>();
  #changed = new Set<string>();

  get(type: string): TypeSummary {
    return this.#summaries.get(type) ?? EMPTY_SUMMARY;
  }

  add(type: string, object: Digest): void {
    const { count, digest } = this.get(type);
    this.#set(type, { count: count + 1, digest: addDigest(digest, object) });
  }

  remove(type: string, object: Digest): void {
    const { count, digest } = this.get(type);
    this.#set(type, {
      count: count - 1,
      digest: subtractDigest(digest, object),
    });
  }

  /** An object that was added with EMPTY_DIGEST has been encoded. */
  encoded(type: string, object: Digest): void {
    const { count, digest } = this.get(type);
    const sum = addDigest(digest, object);
    this.#summaries.set(type, { count, digest: sum });
  }

  /** Summaries that have changed since the last call. */
  takeChanged(): ReadonlyMap<string, TypeSummary> {
    const changed = this.#changed;
    this.#changed = new Set();
    return new Map([...changed].map((type) => [type, this.get(type)]));
  }

  #set(type: string, summary: TypeSummary): void {
    this.#summaries.set(type, summary);
    this.#changed.add(type);
  }
}
