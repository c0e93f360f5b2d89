import { XoError } from "@xo-server/model";
import type { Transaction } from "kysely";
import type { Engine } from "../engines/engine.js";
import type { Tables } from "../schema/tables.js";

/** A row of a table in memory became another, or went: what memory learns once it is committed. */
export interface Change {
  /** The table in memory. */
  readonly target: ChangeTarget;
  readonly id: string;
  /** `undefined` for one that went. */
  readonly row: { readonly id: string } | undefined;
}

/** A table in memory, as far as commits care. */
export interface ChangeTarget {
  readonly name: string;
  /** @param version what the table's counter is after the commit, @returns whether memory is in step */
  commit(changes: readonly Change[], version: number): boolean;
}

/** One transaction: the way to the tables, and the record of what it does to them. */
export class WriteUnit {
  readonly sql: Transaction<Tables>;
  readonly #engine: Engine;
  readonly #changes = new Map<ChangeTarget, Change[]>();
  readonly #replaced = new Set<ChangeTarget>();

  constructor(sql: Transaction<Tables>, engine: Engine) {
    this.sql = sql;
    this.#engine = engine;
  }

  get changes(): ReadonlyMap<ChangeTarget, readonly Change[]> {
    return this.#changes;
  }

  /** Other servers read the table anew, whether or not rows of it are known to have changed. */
  touch(target: ChangeTarget): Change[] {
    let changes = this.#changes.get(target);
    if (changes === undefined) this.#changes.set(target, (changes = []));
    return changes;
  }

  /** So much of a table changed that memory had better read it anew. */
  markReplaced(target: ChangeTarget): void {
    this.touch(target);
    this.#replaced.add(target);
  }

  isReplaced(target: ChangeTarget): boolean {
    return this.#replaced.has(target);
  }

  addChange(change: Change): void {
    this.touch(change.target).push(change);
  }

  /** The error to throw when a row could not be written. @param type names it to people, as in "user already exists" */
  toStoreError(error: unknown, type: string, id: string): unknown {
    const kind = this.#engine.classify(error);
    if (kind === "duplicate")
      return new XoError("ALREADY_EXISTS", { type, objectType: type });
    if (kind === "missing")
      return new XoError("NO_SUCH_OBJECT", {
        type: `object that ${type} refers to`,
        id,
      });
    return error;
  }
}
