import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { builtInRoles } from "../rights/built-in-roles.js";

const ADMIN = "admin";

/** Creates the built-in roles, and an admin if there is none. */
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
  const configured = env["XO_ADMIN_PASSWORD"];
  const password = configured || createPassword();
  const admin = { name: ADMIN, password, permission: "admin" } as const;
  if (!(await unlessExists(users.create(admin)))) return;
  // Only the hash is stored. `xo-server user password admin` resets the password.
  logger.warn(
    configured
      ? `Initial admin user "${ADMIN}" created with the password from $XO_ADMIN_PASSWORD`
      : `Initial admin user "${ADMIN}" created. Initial admin password: ${password} (not shown again)`,
  );
}

/** 120 random bits, base64url. */
export function createPassword(): string {
  return randomBytes(15).toString("base64url");
}

/** Several servers may start at the same time on one database. @returns whether this one created the record */
async function unlessExists(created: Promise<unknown>): Promise<boolean> {
  try {
    await created;
    return true;
  } catch (error) {
    if (error instanceof XoError && error.code === "ALREADY_EXISTS")
      return false;
    throw error;
  }
}
