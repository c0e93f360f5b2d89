import { XoError } from "@xo-server/model";
import type { Transaction } from "kysely";
import type { Engine } from "../engines/engine.js";
import type { Tables } from "../schema/tables.js";

/** A changed or deleted row, applied to the cache after the commit. */
export interface Change {
  /** The cached table. */
  readonly target: ChangeTarget;
  readonly id: string;
  /** `undefined`: deleted. */
  readonly row: { readonly id: string } | undefined;
}

/** A cached table that receives committed changes. */
export interface ChangeTarget {
  readonly name: string;
  /** @param version version counter after the commit. @returns false: another process has changed the table as well */
  commit(changes: readonly Change[], version: number): boolean;
}

/** One transaction: access to the tables and a record of its changes. */
export class WriteUnit {
  readonly sql: Transaction<Tables>;
  readonly #engine: Engine;
  readonly #changes = new Map<ChangeTarget, Change[]>();
  readonly #replaced = new Set<ChangeTarget>();

  constructor(sql: Transaction<Tables>, engine: Engine) {
    this.sql = sql;
    this.#engine = engine;
  }

  get isPostgres(): boolean {
    return this.#engine.name === "postgres";
  }

  get changes(): ReadonlyMap<ChangeTarget, readonly Change[]> {
    return this.#changes;
  }

  /** Other servers reload the table, even if no changed row is recorded. */
  touch(target: ChangeTarget): Change[] {
    let changes = this.#changes.get(target);
    if (changes === undefined) this.#changes.set(target, (changes = []));
    return changes;
  }

  /** The table was replaced: this process reloads it too. */
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

  /** The error to throw when a row could not be written. @param type human-readable type, as in "user already exists" */
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
