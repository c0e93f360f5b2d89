import { checkName } from "../schema/limits.js";
import type { RepositoryContext } from "./repository-context.js";

/** An access right: one subject, one object, one level (the ACL model of Xen Orchestra). */
export interface Acl {
  readonly id: string;
  /** Id of a user or a group. */
  readonly subject: string;
  /** Id of any object. */
  readonly object: string;
  /** `viewer`, `operator`, `admin`. */
  readonly action: string;
}

/** Access rights of the `acl.*` methods. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Acls {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  list(): IterableIterator<Acl> {
    return this.#context.tables.acls.values();
  }

  ofSubject(subject: string): ReadonlySet<Acl> {
    return this.#context.tables.acls.withKey("subject", subject);
  }

  ofObject(object: string): ReadonlySet<Acl> {
    return this.#context.tables.acls.withKey("object", object);
  }

  /** Returns the existing ACL if there is one. @throws XoError LIMIT_REACHED, INVALID_PARAMETERS */
  async add(acl: Omit<Acl, "id">): Promise<Acl> {
    const { tables, committer, createId } = this.#context;
    const columns = {
      subject: checkName("the subject", acl.subject),
      object: checkName("the object", acl.object),
      action: checkName("the action", acl.action),
    };
    const known = this.#find(acl);
    if (known !== undefined) return known;
    return committer.run(async (unit) => {
      const found = await unit.sql
        .selectFrom("acls")
        .selectAll()
        .where("subject", "=", columns.subject)
        .where("object", "=", columns.object)
        .where("action", "=", columns.action)
        .executeTakeFirst();
      return found ?? tables.acls.insert(unit, { id: createId(), ...columns });
    });
  }

  /** @returns whether the ACL existed */
  async remove(acl: Omit<Acl, "id">): Promise<boolean> {
    const { tables, committer } = this.#context;
    const known = this.#find(acl);
    if (known === undefined) return false;
    const deleted = await committer.run((unit) =>
      tables.acls.removeWhere(unit, "id", known.id),
    );
    return deleted > 0;
  }

  #find({ subject, object, action }: Omit<Acl, "id">): Acl | undefined {
    return Array.from(this.ofSubject(subject)).find(
      (acl) => acl.object === object && acl.action === action,
    );
  }
}
