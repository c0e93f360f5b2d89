import type { TypeSummary } from "./catalog.js";
import {
  addDigest,
  EMPTY_DIGEST,
  subtractDigest,
  type Digest,
} from "./digest.js";

const NOTHING: TypeSummary = { count: 0, digest: EMPTY_DIGEST };

/** Number and digest of the objects of each type, kept up to date by difference. */
export class TypeSummaries {
  readonly #summaries = new Map<string, TypeSummary>();
  #changed = new Set<string>();

  get(type: string): TypeSummary {
    return this.#summaries.get(type) ?? NOTHING;
  }

  add(type: string, one: Digest): void {
    const { count, digest } = this.get(type);
    this.#set(type, { count: count + 1, digest: addDigest(digest, one) });
  }

  remove(type: string, one: Digest): void {
    const { count, digest } = this.get(type);
    this.#set(type, { count: count - 1, digest: subtractDigest(digest, one) });
  }

  /** Those that changed since this was asked last. */
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
