import { createHash } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { WriteUnit } from "../commit/write-unit.js";
import { checkName, limits, checkText, toJson } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { UserRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** An account, without password hash and secrets. */
export interface User {
  readonly id: string;
  /** Login name, often an e-mail address. */
  readonly name: string;
  /** `admin` has all rights, others those of their roles. */
  readonly permission: "admin" | "none";
  readonly preferences: Readonly<Record<string, unknown>>;
  /** Provider (`ldap`, `oidc` ...) to the id of the user at the provider. */
  readonly authProviders: Readonly<Record<string, string>>;
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewUser {
  readonly name: string;
  /** Absent for users of an external provider. */
  readonly password?: string;
  readonly permission?: User["permission"];
  readonly preferences?: User["preferences"];
  readonly authProviders?: User["authProviders"];
}

export type UserPatch = Partial<Omit<NewUser, "password">>;

export interface UserChangeOptions {
  /** Also if no user with the permission admin is left: from the command line, which can create one. */
  readonly allowNoAdmin?: boolean;
}

/** User accounts. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Users {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#context.tables.users.size;
  }

  get(id: string): User | undefined {
    const row = this.#context.tables.users.get(id);
    return row && toUser(row);
  }

  /** Is another one after each change of the password; undefined: the user has none. */
  passwordTag(id: string): string | undefined {
    const hash = this.#context.tables.users.get(id)?.password_hash ?? undefined;
    return hash && createHash("sha256").update(hash).digest("base64");
  }

  findByName(name: string): User | undefined {
    const row = this.#rowByName(name);
    return row && toUser(row);
  }

  *list(): IterableIterator<User> {
    for (const row of this.#context.tables.users.values()) yield toUser(row);
  }

  /** @throws XoError ALREADY_EXISTS, LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create(user: NewUser): Promise<User> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const row: UserRow = {
      id: createId(),
      name: checkName("the user name", user.name),
      password_hash: await this.#hash(user.password),
      permission: user.permission ?? "none",
      preferences_json: toJson("the preferences", user.preferences ?? {}),
      providers_json: toJson("the providers", user.authProviders ?? {}),
      totp_sealed: null,
      totp_step: 0,
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.users.insert(unit, row));
    return toUser(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, ALREADY_EXISTS, LAST_ADMIN, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async update(id: string, patch: UserPatch): Promise<User> {
    const columns: Partial<UserRow> = {};
    const { name, permission, preferences, authProviders } = patch;
    if (name !== undefined) columns.name = checkName("the user name", name);
    if (permission !== undefined) columns.permission = permission;
    if (preferences !== undefined)
      columns.preferences_json = toJson("the preferences", preferences);
    if (authProviders !== undefined)
      columns.providers_json = toJson("the providers", authProviders);
    return this.#set(id, columns);
  }

  /** Does not revoke tokens and sessions; the caller decides. @param password null: disables sign-in by password */
  async setPassword(id: string, password: string | null): Promise<void> {
    this.#context.tables.users.require(id);
    const password_hash = await this.#hash(password ?? undefined);
    await this.#set(id, { password_hash });
  }

  /**
   * Takes as long for an unknown name as for a wrong password. Replaces a hash
   * with an outdated cost.
   * @returns the user, or undefined
   * @throws XoError TOO_MANY_REQUESTS
   */
  async verifyPassword(
    name: string,
    password: string,
  ): Promise<User | undefined> {
    const { hasher } = this.#context;
    if (Buffer.byteLength(password) > limits.passwordBytes) return undefined;
    const row = this.#rowByName(name);
    const stored = row?.password_hash ?? undefined;
    const isRight = await hasher.verify(password, stored);
    if (!isRight || row === undefined || stored === undefined) return undefined;
    if (hasher.isOutdated(stored))
      // Sign-in works without the database: the hash is then replaced at a later sign-in.
      await this.setPassword(row.id, password).catch(() => undefined);
    return this.get(row.id);
  }

  /** @param secret TOTP secret; null removes the second factor */
  async setTotp(
    id: string,
    secret: string | null,
    usedStep = 0,
  ): Promise<void> {
    const { vault } = this.#context;
    const totp_sealed =
      secret === null
        ? null
        : vault.seal(checkText("the secret", secret), sealContext.totp(id));
    await this.#set(id, { totp_sealed, totp_step: usedStep });
  }

  /** @throws XoError NO_SUCH_OBJECT, STORE_KEY_WRONG, SECRET_DAMAGED */
  totpSecret(id: string): string | undefined {
    const { tables, vault } = this.#context;
    const sealed = tables.users.require(id).totp_sealed;
    return sealed === null
      ? undefined
      : vault.open(sealed, sealContext.totp(id));
  }

  /** Marks a TOTP time step as used, for all servers. @returns false: this or a later step was used before */
  async useTotpStep(id: string, step: number): Promise<boolean> {
    const { tables, committer } = this.#context;
    return committer.run(async (unit) => {
      const row = await unit.sql
        .updateTable("users")
        .set({ totp_step: step })
        .where("id", "=", id)
        .where("totp_step", "<", step)
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined) unit.addChange({ target: tables.users, id, row });
      return row !== undefined;
    });
  }

  /** Deletes the user with tokens, memberships and rights. @throws XoError NO_SUCH_OBJECT, LAST_ADMIN */
  async delete(
    id: string,
    { allowNoAdmin = false }: UserChangeOptions = {},
  ): Promise<void> {
    const { tables, committer } = this.#context;
    const before = tables.users.require(id);
    await committer.run(async (unit) => {
      await tables.tokens.removeWhere(unit, "user_id", id);
      await tables.memberships.removeWhere(unit, "user_id", id);
      await tables.grants.removeWhere(unit, "subject_id", id);
      await tables.acls.removeWhere(unit, "subject", id);
      await tables.users.remove(unit, id);
      if (!allowNoAdmin) await requireAdmin(unit, before);
    });
  }

  #rowByName(name: string): UserRow | undefined {
    const [row] = this.#context.tables.users.withKey("name", name);
    return row;
  }

  async #set(id: string, columns: Partial<UserRow>): Promise<User> {
    const { tables, committer, clock } = this.#context;
    const before = tables.users.require(id);
    const updated_at = clock.now();
    return committer.run(async (unit) => {
      const all = { ...columns, updated_at };
      const row = await tables.users.update(unit, id, all);
      if (!isUsableAdmin(row)) await requireAdmin(unit, before);
      return toUser(row);
    });
  }

  async #hash(password: string | undefined): Promise<string | null> {
    if (password === undefined) return null;
    checkText("the password", password, limits.passwordBytes);
    return this.#context.hasher.hash(password);
  }
}

type SignInColumns = Pick<
  UserRow,
  "permission" | "password_hash" | "providers_json"
>;

/** Whether a user has the permission admin and can sign in. */
export function isUsableAdmin({
  permission,
  password_hash,
  providers_json,
}: SignInColumns): boolean {
  const canSignIn = password_hash !== null || providers_json !== "{}";
  return permission === "admin" && canSignIn;
}

/**
 * In the transaction of the change: two servers cannot each demote the admin
 * that the other one keeps.
 * @param before the user before the change
 * @throws XoError LAST_ADMIN
 */
async function requireAdmin(unit: WriteUnit, before: UserRow): Promise<void> {
  if (!isUsableAdmin(before)) return;
  // Locks the row until the commit: the other server counts after this change.
  await unit.sql
    .updateTable("table_versions")
    .set((row) => ({ version: row.ref("version") }))
    .where("id", "=", "users")
    .execute();
  const admins = await unit.sql
    .selectFrom("users")
    .select(["permission", "password_hash", "providers_json"])
    .where("permission", "=", "admin")
    .execute();
  if (!admins.some(isUsableAdmin))
    throw new XoError("LAST_ADMIN", { name: before.name });
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    permission: row.permission === "admin" ? "admin" : "none",
    preferences: JSON.parse(row.preferences_json) as User["preferences"],
    authProviders: JSON.parse(row.providers_json) as User["authProviders"],
    hasPassword: row.password_hash !== null,
    hasTotp: row.totp_sealed !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
