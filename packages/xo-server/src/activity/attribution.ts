import type { WallClock } from "@xo-server/kit";
import type { ActivityEntry, Actor, ActivityEvent } from "./activity-entry.js";

/**
 * Bulk operations end before the mirror has all their changes: events are
 * attributed this long after the end.
 */
const ATTRIBUTION_MS = 10_000;
/** Maximum number of tracked actions. */
const MAX_TRACKED = 10_000;

/** A change requested by a user. */
interface ActionOfUser {
  readonly actor: Actor;
  /** Ids of the objects that are changed. */
  readonly ids: readonly string[];
}

interface TrackedAction {
  readonly action: ActionOfUser;
  /** ms since the epoch; undefined: in progress. */
  endedAt: number | undefined;
}

/** Which user is changing, or has just changed, which object. */
export class Attribution {
  readonly #clock: Pick<WallClock, "now">;
  readonly #byObject = new Map<string, TrackedAction>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** @returns to be called when the action has ended */
  begin(action: ActionOfUser): () => void {
    const tracked: TrackedAction = { action, endedAt: undefined };
    this.#evictOld();
    for (const id of action.ids) {
      // Keeps the map ordered by age.
      this.#byObject.delete(id);
      this.#byObject.set(id, tracked);
    }
    return () => {
      tracked.endedAt = this.#clock.now();
    };
  }

  /** The user whose action probably caused the event; undefined: none is known. */
  of({ kind, objectId, of }: ActivityEvent): Actor | undefined {
    for (const id of [objectId, of?.id]) {
      const found = id === undefined ? undefined : this.#byObject.get(id);
      if (found === undefined || this.#isOld(found)) continue;
      const { actor } = found.action;
      if (mayCause(actor.operation, kind)) return actor;
    }
    return undefined;
  }

  #isOld({ endedAt }: TrackedAction): boolean {
    return (
      endedAt !== undefined && this.#clock.now() - endedAt > ATTRIBUTION_MS
    );
  }

  #evictOld(): void {
    for (const [id, tracked] of this.#byObject) {
      if (!this.#isOld(tracked) && this.#byObject.size < MAX_TRACKED) return;
      this.#byObject.delete(id);
    }
  }
}

/**
 * For example, a VM that stops while a user edits its description was not
 * stopped by that user.
 */
function mayCause(operation: string, kind: ActivityEntry["kind"]): boolean {
  const isRenamed = kind.endsWith(".renamed");
  const isSet = /\.(set\w*|edit\w*|addTag|removeTag|add|remove)$/.test(
    operation,
  );
  return isSet ? isRenamed || kind.startsWith("host.") : true;
}
