import type { ChangeBatch } from "../feed/change-ring.js";
import type { ObjectKey } from "../inventory.js";
import type { View } from "../views/view.js";
import type { CatalogParts } from "./class-parts.js";
import type { FollowedClass } from "./followed-class.js";
import { ReadContent } from "./read-content.js";

export interface ChangeRouterOptions {
  readonly parts: CatalogParts;
  readonly views: ReadonlyMap<string, View>;
  /** By class. */
  readonly followed: ReadonlyMap<string, FollowedClass>;
  /** A pool's own object has changed. */
  readonly onPoolChange: (pool: number) => void;
}

/** Tells followed classes which of their rows a change of a record concerns. */
export class ChangeRouter {
  readonly #options: ChangeRouterOptions;
  /** By class: fields only grow in number, as classes are followed. */
  readonly #contents = new Map<string, ReadContent>();
  /** Counts batches of changes. */
  #batch = 0;

  constructor(options: ChangeRouterOptions) {
    this.#options = options;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const content of this.#contents.values()) bytes += content.byteLength;
    return bytes;
  }

  onChanges(changes: ChangeBatch): void {
    this.#batch++;
    let className = "";
    let reaction: (index: number) => void = () => undefined;
    for (let i = 0; i < changes.count; i++) {
      // Changes of a class come in runs.
      if (changes.className(i) !== className) {
        className = changes.className(i);
        reaction = this.#reactionTo(className, changes);
      }
      reaction(i);
    }
  }

  /** What a change of this class calls for. */
  #reactionTo(
    className: string,
    changes: ChangeBatch,
  ): (index: number) => void {
    const own = this.#options.followed.get(className);
    const readers = this.readersOf(className);
    const byUuid = [...this.#options.followed.values()].filter((one) =>
      one.readsByUuid(className),
    );
    const isPool = className === "pool";
    if (own === undefined && readers.length + byUuid.length === 0 && !isPool)
      return () => undefined;
    const content = this.#contentOf(className, readers);
    // The id of a record that is not followed may follow from what it says.
    const mayMove =
      own === undefined &&
      this.#options.views.get(className)?.idOf !== undefined;
    return (index) => {
      const poolId = changes.poolId(index);
      const pool = this.#options.parts.pools.numberOf(poolId);
      const kind = changes.kind(index);
      const ref = changes.ref(index);
      if (isPool) this.#options.onPoolChange(pool);
      const isCompared = own?.onOwnChange(pool, ref, kind) ?? !mayMove;
      const isRead =
        readers.length > 0 &&
        this.#concerns(content, { poolId, className, ref });
      for (const reader of readers) {
        if (isRead) reader.onContentChange(pool, ref);
        if (kind !== "update" || !isCompared) reader.onIdChange(pool, ref);
      }
      if (kind === "remove") return;
      for (const reader of byUuid)
        this.#onUuid(reader, { poolId, className, ref });
    };
  }

  /** What the readers of a class read of its records; undefined: all of it. */
  #contentOf(
    className: string,
    readers: readonly FollowedClass[],
  ): ReadContent | undefined {
    const fields = new Set<string>();
    for (const { view } of readers) {
      if (view.reads === undefined) return undefined;
      for (const field of view.reads[className] ?? []) fields.add(field);
    }
    const known = this.#contents.get(className);
    if (known !== undefined && fields.size === known.fields.length)
      return known;
    const content = new ReadContent([...fields]);
    this.#contents.set(className, content);
    return content;
  }

  /** Does a change of the record concern who reads it? */
  #concerns(
    content: ReadContent | undefined,
    { poolId, className, ref }: ObjectKey,
  ): boolean {
    if (content === undefined) return true;
    if (content.fields.length === 0) return false;
    const { inventory, pools } = this.#options.parts;
    const pool = pools.numberOf(poolId);
    const record = inventory.peek(poolId, className, ref);
    if (record !== undefined)
      return content.differs(pool, ref, { record, batch: this.#batch });
    content.forget(pool, ref);
    return true;
  }

  #onUuid(reader: FollowedClass, object: ObjectKey): void {
    const { inventory, pools } = this.#options.parts;
    const uuid = inventory.column(object, "uuid");
    if (typeof uuid === "string")
      reader.onUuid(pools.numberOf(object.poolId), uuid);
  }

  /** Followed classes whose views read records or ids of this one. */
  readersOf(className: string): FollowedClass[] {
    return [...this.#options.followed.values()].filter((one) =>
      one.reads(className),
    );
  }
}
