import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { builtInRoles } from "../rights/built-in-roles.js";

const ADMIN = "admin";

/** What must be in a store before anybody can do anything: an admin, and the built-in roles. */
export async function createInitialAccounts(
  store: Pick<Store, "users" | "roles">,
  logger: Logger,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  for (const { name, description } of builtInRoles)
    if (store.roles.findByName(name) === undefined)
      await unlessExists(
        store.roles.create({ name, description, isTemplate: true }),
      );
  const hasAdmin = Array.from(store.users.list()).some(
    ({ permission }) => permission === "admin",
  );
  if (!hasAdmin) await createAdmin(store, logger, env);
}

async function createAdmin(
  { users }: Pick<Store, "users">,
  logger: Logger,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const given = env["XO_ADMIN_PASSWORD"];
  const password = given || createPassword();
  const admin = { name: ADMIN, password, permission: "admin" } as const;
  if (!(await unlessExists(users.create(admin)))) return;
  // The one time that it can be known. `xo-server user password admin` makes another.
  logger.warn(
    given
      ? `First start: sign in as "${ADMIN}" with the password of $XO_ADMIN_PASSWORD`
      : `First start: sign in as "${ADMIN}" with the password ${password} (not shown again)`,
  );
}

/** 120 bits of chance. */
export function createPassword(): string {
  return randomBytes(15).toString("base64url");
}

/** Of several servers that start at once on one store, one is first. @returns whether it was this one */
async function unlessExists(made: Promise<unknown>): Promise<boolean> {
  try {
    await made;
    return true;
  } catch (error) {
    if (error instanceof XoError && error.code === "ALREADY_EXISTS")
      return false;
    throw error;
  }
}
