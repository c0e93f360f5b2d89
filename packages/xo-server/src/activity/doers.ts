import type { Clock } from "../clock.js";
import type { ActivityEntry, Doer, Happening } from "./activity-entry.js";

/** Of one of many nobody waits until the pool has told of it: it may do so a moment after the end. */
const TOLD_WITHIN_MS = 10_000;
/** Calls that are remembered. */
const MOST = 10_000;

/** A change that a user has asked us for. */
export interface Doing {
  readonly doer: Doer;
  /** Objects that it is done to. */
  readonly ids: readonly string[];
}

interface Remembered {
  readonly doing: Doing;
  /** ms; undefined: it is under way. */
  endedAt: number | undefined;
}

/** Who does what to which object now, or has just done it. */
export class Doers {
  readonly #clock: Pick<Clock, "now">;
  readonly #byObject = new Map<string, Remembered>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** @returns to be called at its end */
  begin(doing: Doing): () => void {
    const remembered: Remembered = { doing, endedAt: undefined };
    this.#forgetOld();
    for (const id of doing.ids) {
      // The newest stands last.
      this.#byObject.delete(id);
      this.#byObject.set(id, remembered);
    }
    return () => {
      remembered.endedAt = this.#clock.now();
    };
  }

  of({ kind, objectId, of }: Happening): Doer | undefined {
    for (const id of [objectId, of?.id]) {
      const found = id === undefined ? undefined : this.#byObject.get(id);
      if (found === undefined || this.#isOld(found)) continue;
      const { doer } = found.doing;
      if (mayCause(doer.operation, kind)) return doer;
    }
    return undefined;
  }

  #isOld({ endedAt }: Remembered): boolean {
    return (
      endedAt !== undefined && this.#clock.now() - endedAt > TOLD_WITHIN_MS
    );
  }

  #forgetOld(): void {
    for (const [id, remembered] of this.#byObject) {
      if (!this.#isOld(remembered) && this.#byObject.size < MOST) return;
      this.#byObject.delete(id);
    }
  }
}

/** A VM that stops by itself while somebody writes its description was not stopped by them. */
function mayCause(operation: string, kind: ActivityEntry["kind"]): boolean {
  const isRenamed = kind.endsWith(".renamed");
  const isSet = /\.(set\w*|edit\w*|addTag|removeTag|add|remove)$/.test(
    operation,
  );
  return isSet ? isRenamed || kind.startsWith("host.") : true;
}
