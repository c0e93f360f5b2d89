import { digestToText, type Digest } from "../catalog/digest.js";

/**
 * Identifies the content of a columns answer: which objects, and the version of
 * each column.
 */
export interface ColumnsState {
  /** Id of the feed: versions of another process are not comparable. */
  readonly feedId: string;
  /** MembersDigest.text of the objects. */
  readonly members: string;
  /** `changedAt` by path. */
  readonly columns: ReadonlyMap<string, number>;
}

/** A state for a client, which sends it back with its next request; `fromStateText` reads it. */
export function toStateText(state: ColumnsState): string {
  return JSON.stringify([
    state.feedId,
    state.members,
    ...[...state.columns].flat(),
  ]);
}

/** Undefined for an invalid state and for one of another process. */
export function fromStateText(
  text: string | undefined,
  feedId: string,
): ColumnsState | undefined {
  if (text === undefined) return undefined;
  const parts = parse(text);
  if (!Array.isArray(parts) || parts[0] !== feedId) return undefined;
  const [, members, ...pairs] = parts as readonly unknown[];
  if (typeof members !== "string") return undefined;
  const columns = new Map<string, number>();
  for (let i = 0; i + 1 < pairs.length; i += 2)
    columns.set(String(pairs[i]), Number(pairs[i + 1]));
  return { feedId, members, columns };
}

/** Digest of object serials in order: identifies the set of objects. */
export class MembersDigest {
  #high = 0x243f6a88;
  #low = 0x13198a2e;
  #count = 0;

  add(serial: number): void {
    this.#high = Math.imul(this.#high ^ serial, 0x9e3779b1);
    this.#high ^= this.#high >>> 15;
    this.#low = Math.imul(
      ((this.#low << 13) | (this.#low >>> 19)) + serial,
      0x85ebca77,
    );
    this.#count++;
  }

  /** Count and digest of the serials that were added. */
  get text(): string {
    const digest: Digest = { high: this.#high, low: this.#low };
    return `${this.#count}-${digestToText(digest)}`;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Clients send the state, so it may be anything.
    return undefined;
  }
}
