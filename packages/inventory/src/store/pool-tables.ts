import { ClassTable, type ClassTableContent } from "./class-table.js";
import type { HashIndexContent } from "./hash-index.js";
import { toDigestText } from "./record-digest.js";
import type { Segments } from "./segments.js";
import { MAX_CLASSES, UuidIndex } from "./uuid-index.js";

export interface FoundRow {
  readonly table: ClassTable;
  readonly row: number;
}

/** The content of the tables. */
export interface PoolTablesContent {
  readonly uuids: readonly HashIndexContent[];
  /** By class number in the UUID index. */
  readonly tables: readonly ClassTableContent[];
}

/**
 * The tables of a pool's classes, with counts, digests and the UUID index over
 * all of them.
 */
export class PoolTables {
  readonly #uuids: UuidIndex;
  readonly #segments: Segments;
  readonly #byName = new Map<string, ClassTable>();
  /** By class number in the UUID index. */
  readonly #byNumber: ClassTable[] = [];

  /** @param content of other tables, which must not be used afterwards */
  constructor(segments: Segments, content?: PoolTablesContent) {
    this.#segments = segments;
    this.#uuids = new UuidIndex(content?.uuids);
    for (const table of content?.tables ?? []) this.add(table.className, table);
  }

  get content(): PoolTablesContent {
    return {
      uuids: this.#uuids.content,
      tables: this.#byNumber.map((table) => table.content),
    };
  }

  /** Bytes of tables and indexes. */
  get byteLength(): number {
    let bytes = this.#uuids.byteLength;
    for (const table of this.#byNumber) bytes += table.byteLength;
    return bytes;
  }

  get all(): readonly ClassTable[] {
    return this.#byNumber;
  }

  /** Number of objects by class; classes without objects are left out. */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { className, count } of this.#byNumber)
      if (count > 0) counts.set(className, count);
    return counts;
  }

  get(className: string): ClassTable | undefined {
    return this.#byName.get(className);
  }

  /** Creates the table of a class. Undefined at the limit of MAX_CLASSES. */
  add(className: string, content?: ClassTableContent): ClassTable | undefined {
    const number = this.#byNumber.length;
    if (number === MAX_CLASSES) return undefined;
    const indexes = { segments: this.#segments, uuids: this.#uuids };
    const table = new ClassTable(className, number, indexes, content);
    this.#byNumber.push(table);
    this.#byName.set(className, table);
    return table;
  }

  /** @param hash hashRef of the UUID's bytes */
  findUuid(uuid: string, hash: number): FoundRow | undefined {
    return this.#uuids.find(hash, (number, row) => {
      const table = this.#byNumber[number]!;
      return table.uuid(row) === uuid ? { table, row } : undefined;
    });
  }

  /**
   * Digest of one class, or of all: 16 hexadecimal digits (see
   * record-digest.ts).
   */
  digest(className?: string): string {
    let high = 0;
    let low = 0;
    for (const table of this.#byNumber)
      if (className === undefined || className === table.className) {
        high += table.digestHigh;
        low += table.digestLow;
      }
    return toDigestText(high, low);
  }

  /** Drops all tables, which must be empty. */
  clear(): void {
    this.#byName.clear();
    this.#byNumber.length = 0;
  }
}
