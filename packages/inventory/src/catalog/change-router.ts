import type { ChangeBatch } from "../feed/change-ring.js";
import type { ObjectKey } from "../mirror/inventory.js";
import type { View } from "../views/view.js";
import type { CatalogContext } from "./class-context.js";
import type { FollowedClass } from "./followed-class.js";
import { FieldDigests } from "./field-digests.js";

interface ChangeRouterOptions {
  readonly context: CatalogContext;
  readonly views: ReadonlyMap<string, View>;
  /** By class name. */
  readonly followed: ReadonlyMap<string, FollowedClass>;
  /** Called when the record of a pool itself has changed. */
  readonly onPoolChange: (pool: number) => void;
}

/**
 * Maps changes of records to rows of followed classes: the record's own row,
 * and all rows whose views have read the record, its id or its UUID.
 */
export class ChangeRouter {
  readonly #options: ChangeRouterOptions;
  /** By class name. The set of fields only grows, as more classes are followed. */
  readonly #fieldDigests = new Map<string, FieldDigests>();
  /** Number of the current batch of changes. */
  #batch = 0;

  constructor(options: ChangeRouterOptions) {
    this.#options = options;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const content of this.#fieldDigests.values())
      bytes += content.byteLength;
    return bytes;
  }

  onChanges(changes: ChangeBatch): void {
    this.#batch++;
    let className = "";
    let handler: (index: number) => void = () => undefined;
    for (let i = 0; i < changes.count; i++) {
      // Consecutive changes are mostly of one class.
      if (changes.className(i) !== className) {
        className = changes.className(i);
        handler = this.#handlerFor(className, changes);
      }
      handler(i);
    }
  }

  /** Creates the handler for changes of a class. */
  #handlerFor(
    className: string,
    changes: ChangeBatch,
  ): (index: number) => void {
    const followed = this.#options.followed.get(className);
    const readers = this.readersOf(className);
    const byUuid = [...this.#options.followed.values()].filter((one) =>
      one.readsByUuid(className),
    );
    const isPool = className === "pool";
    if (
      followed === undefined &&
      readers.length + byUuid.length === 0 &&
      !isPool
    )
      return () => undefined;
    const { loading } = this.#options.context;
    const content = this.#fieldDigestsOf(className, readers);
    // The id of a record of a class that is not followed may depend on its
    // content.
    const mayChangeId =
      followed === undefined &&
      this.#options.views.get(className)?.idOf !== undefined;
    return (index) => {
      const poolId = changes.poolId(index);
      const pool = this.#options.context.pools.numberOf(poolId);
      if (isPool) this.#options.onPoolChange(pool);
      // Its records get their rows when they are complete.
      if (loading.has(poolId)) return;
      const kind = changes.kind(index);
      const ref = changes.ref(index);
      const isCompared =
        followed?.onRecordChange(pool, ref, kind) ?? !mayChangeId;
      // A new record: all readers that found no such record are affected, without a comparison.
      const isRead =
        readers.length > 0 &&
        (kind === "add" ||
          this.#affectsReaders(content, { poolId, className, ref }));
      for (const reader of readers) {
        if (isRead) reader.onContentChange(pool, ref);
        if (kind !== "update" || !isCompared) reader.onIdChange(pool, ref);
      }
      if (kind === "remove") return;
      for (const reader of byUuid)
        this.#markUuidReaders(reader, { poolId, className, ref });
    };
  }

  /**
   * Digests of the fields that views read of a class; undefined when a view
   * declares no fields, so that every change counts.
   */
  #fieldDigestsOf(
    className: string,
    readers: readonly FollowedClass[],
  ): FieldDigests | undefined {
    const fields = new Set<string>();
    for (const { view } of readers) {
      if (view.reads === undefined) return undefined;
      for (const field of view.reads[className] ?? []) fields.add(field);
    }
    const cached = this.#fieldDigests.get(className);
    if (cached !== undefined && fields.size === cached.fields.length)
      return cached;
    const content = new FieldDigests([...fields]);
    this.#fieldDigests.set(className, content);
    return content;
  }

  /** Whether a change of the record concerns the views that read it. */
  #affectsReaders(
    content: FieldDigests | undefined,
    { poolId, className, ref }: ObjectKey,
  ): boolean {
    if (content === undefined) return true;
    if (content.fields.length === 0) return false;
    const { inventory, pools } = this.#options.context;
    const pool = pools.numberOf(poolId);
    const record = inventory.peek(poolId, className, ref);
    if (record !== undefined)
      return content.hasChanged(pool, ref, { record, batch: this.#batch });
    content.remove(pool, ref);
    return true;
  }

  #markUuidReaders(reader: FollowedClass, object: ObjectKey): void {
    const { inventory, pools } = this.#options.context;
    const uuid = inventory.column(object, "uuid");
    if (typeof uuid === "string")
      reader.onUuid(pools.numberOf(object.poolId), uuid);
  }

  /** Followed classes whose views read records or ids of a class. */
  readersOf(className: string): FollowedClass[] {
    return [...this.#options.followed.values()].filter((one) =>
      one.reads(className),
    );
  }
}
