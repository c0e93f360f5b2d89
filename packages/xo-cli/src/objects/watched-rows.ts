import { applyMergePatch } from "@xo-server/kit";
import type { Row } from "./path.js";

/** An update of a live query: all rows first, then changes. */
export interface QueryUpdate {
  readonly reset?: boolean;
  readonly total: number;
  readonly splice?: {
    readonly at: number;
    readonly remove: number;
    readonly insert: readonly string[];
  };
  readonly objects: Readonly<Record<string, Row>>;
  readonly patches: Readonly<Record<string, unknown>>;
}

/** Params of the notification `all`; 0: removed. */
export interface AllUpdate {
  readonly type: "enter" | "exit";
  readonly items: Readonly<Record<string, Row | 0>>;
}

export type RowEvent =
  | { readonly event: "add"; readonly id: string; readonly object: Row }
  | {
      readonly event: "change";
      readonly id: string;
      readonly object: Row;
      readonly before: Row;
    }
  | { readonly event: "remove"; readonly id: string; readonly before: Row };

/** The watched rows; converts updates to events. */
export class WatchedRows {
  readonly #rows = new Map<string, Row>();
  /** Ids of the window, in order. */
  #ids: string[] = [];

  get size(): number {
    return this.#rows.size;
  }

  /** Replaces all rows: initially and after a gap. */
  replace(rows: ReadonlyMap<string, Row>): RowEvent[] {
    const gone = [...this.#rows.keys()].filter((id) => !rows.has(id));
    const events = gone.flatMap((id) => this.#remove(id));
    for (const [id, row] of rows) events.push(...this.#put(id, row));
    return events;
  }

  /** The initial update, or one with `reset`. */
  begin({ splice, objects }: QueryUpdate): RowEvent[] {
    this.#ids = [...(splice?.insert ?? [])];
    const rows = this.#ids
      .filter((id) => Object.hasOwn(objects, id))
      .map((id) => [id, objects[id]!] as const);
    return this.replace(new Map(rows));
  }

  take(update: QueryUpdate): RowEvent[] {
    if (update.reset === true) return this.begin(update);
    const { at, remove, insert } = update.splice ?? {
      at: 0,
      remove: 0,
      insert: [],
    };
    const left = this.#ids.splice(at, remove, ...insert);
    const stay = new Set(insert);
    const events = left
      .filter((id) => !stay.has(id))
      .flatMap((id) => this.#remove(id));
    for (const [id, row] of Object.entries(update.objects))
      events.push(...this.#put(id, row));
    for (const [id, patch] of Object.entries(update.patches)) {
      const row = applyMergePatch(this.#rows.get(id), patch) as Row;
      events.push(...this.#put(id, row));
    }
    return events;
  }

  takeAll({ type, items }: AllUpdate, isSelected: (row: Row) => boolean) {
    return Object.entries(items).flatMap(([id, row]) => {
      if (type === "exit" || row === 0) return this.#remove(id);
      return isSelected(row) ? this.#put(id, row) : this.#remove(id);
    });
  }

  #put(id: string, object: Row): RowEvent[] {
    const before = this.#rows.get(id);
    this.#rows.set(id, object);
    if (before === undefined) return [{ event: "add", id, object }];
    return changedMembers(before, object).length === 0
      ? []
      : [{ event: "change", id, object, before }];
  }

  #remove(id: string): RowEvent[] {
    const before = this.#rows.get(id);
    if (before === undefined) return [];
    this.#rows.delete(id);
    return [{ event: "remove", id, before }];
  }
}

/** Names of top-level members that differ. */
export function changedMembers(before: Row, now: Row): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]),
  );
}
