import type { RowObserver, ViewObject, ViewTable } from "@xo-server/inventory";
import type { ActivityKind, Happening, Related } from "./activity-entry.js";
import { textOf, type Facts, type FactsDictionary } from "./object-facts.js";
import { changesOf, isTold, kindOf } from "./object-kinds.js";

export interface RowWatcherOptions {
  readonly table: ViewTable;
  readonly facts: FactsDictionary;
  /** What a change of the pool's objects is: something that happens, and no listing. */
  readonly isLive: (pool: string) => boolean;
  /** What an object that is there is called. */
  readonly nameOf: (id: string, type: "host" | "VM") => string | undefined;
  readonly onHappening: (happening: Happening) => void;
}

/** Sees what changes of a class's objects mean. A change costs one look at a few fields, however many objects there are. */
export class RowWatcher implements RowObserver {
  readonly #options: RowWatcherOptions;
  /** By row. */
  readonly #facts: (Facts | undefined)[] = [];
  readonly #names: (string | undefined)[] = [];
  readonly #poolIds: (string | undefined)[] = [];
  readonly #sharedTexts = new Map<string, string>();
  /** All that was there at the beginning is known. */
  isComplete = false;

  constructor(options: RowWatcherOptions) {
    this.#options = options;
  }

  get table(): ViewTable {
    return this.#options.table;
  }

  nameOf(id: string): string | undefined {
    const row = this.table.findId(id);
    return row < 0 ? undefined : this.#names[row];
  }

  rowSet(row: number, view: ViewObject): void {
    const after = this.#options.facts.of(view);
    const before = this.#facts[row];
    const was = this.#names[row];
    if (!isTold(after.type)) {
      if (before !== undefined) this.rowRemoved(row);
      return;
    }
    const name = textOf(view["name_label"]);
    this.#keep(row, after, { name, pool: textOf(view["$pool"]) });
    if (!this.#isTelling(row)) return;
    if (before?.type !== after.type) {
      this.#tell(row, kindOf(after.type, "created"));
      return;
    }
    if (name !== was)
      this.#tell(row, kindOf(after.type, "renamed"), { was: was ?? "" });
    for (const kind of changesOf(before, after))
      this.#tell(row, kind, this.#places(kind, before, after));
  }

  rowRemoved(row: number): void {
    const facts = this.#facts[row];
    if (facts === undefined) return;
    if (this.#isTelling(row)) this.#tell(row, kindOf(facts.type, "removed"));
    this.#facts[row] = undefined;
    this.#names[row] = undefined;
    this.#poolIds[row] = undefined;
  }

  flushed(): void {
    // Each row is told as it comes.
  }

  #isTelling(row: number): boolean {
    return this.isComplete && this.#options.isLive(this.table.pool(row));
  }

  #keep(
    row: number,
    facts: Facts,
    { name, pool }: { readonly name: string; readonly pool: string },
  ): void {
    this.#facts[row] = facts;
    if (this.#names[row] !== name) this.#names[row] = name;
    const shared = this.#sharedTexts.get(pool);
    if (shared === undefined) this.#sharedTexts.set(pool, pool);
    this.#poolIds[row] = shared ?? pool;
  }

  #tell(
    row: number,
    kind: ActivityKind | undefined,
    more: Partial<Happening> = {},
  ): void {
    const facts = this.#facts[row];
    if (kind === undefined || facts === undefined) return;
    const pool = this.#poolIds[row];
    const { type, place } = facts;
    const of = type === "VM-snapshot" ? this.#related(place, "VM") : undefined;
    this.#options.onHappening({
      kind,
      type,
      objectId: this.table.id(row),
      name: this.#names[row] ?? "",
      ...(pool === undefined || pool === "" ? {} : { pool }),
      ...(of === undefined ? {} : { of }),
      ...more,
    });
  }

  #places(kind: ActivityKind, before: Facts, after: Facts): Partial<Happening> {
    const from =
      kind === "vm.moved" || kind === "vm.stopped" || kind === "vm.suspended"
        ? this.#related(before.place, "host")
        : undefined;
    const to = kind.startsWith("vm.")
      ? this.#related(after.place, "host")
      : undefined;
    return {
      ...(from === undefined ? {} : { from }),
      ...(to === undefined || from?.id === to.id ? {} : { to }),
    };
  }

  /** Undefined: it is no such object, as the pool that a halted VM is in. */
  #related(id: string, type: "host" | "VM"): Related | undefined {
    const name = this.#options.nameOf(id, type);
    return name === undefined ? undefined : { id, type, name };
  }
}
