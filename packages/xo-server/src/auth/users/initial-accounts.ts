import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../../log/logger.js";
import type { PasswordPolicy } from "./password-policy.js";
import { builtInRoles } from "../../rights/built-in-roles.js";

/** Name of the first administrator. */
export const ADMIN = "admin";

interface InitialAccountsOptions {
  readonly logger: Logger;
  readonly policy: PasswordPolicy;
  /** File for a generated password, mode 0600; undefined: it is logged. */
  readonly passwordFile: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Creates the built-in roles, and an admin if there is none. @throws XoError CONFIG_INVALID */
export async function createInitialAccounts(
  store: Pick<Store, "users" | "roles">,
  options: InitialAccountsOptions,
): Promise<void> {
  const hasAdmin = Array.from(store.users.list()).some(
    ({ permission }) => permission === "admin",
  );
  await Promise.all([
    createRoles(store),
    hasAdmin ? undefined : createAdmin(store, options),
  ]);
}

/** At the same time, so that they share a transaction. */
async function createRoles({ roles }: Pick<Store, "roles">): Promise<void> {
  const missing = builtInRoles.filter(
    ({ name }) => roles.findByName(name) === undefined,
  );
  await Promise.all(
    missing.map(({ name, description }) =>
      unlessExists(roles.create({ name, description, isTemplate: true })),
    ),
  );
}

/** Others may read a log, and it is stored for long: it must not contain the password. */
async function createAdmin(
  { users }: Pick<Store, "users">,
  { logger, policy, passwordFile, env = process.env }: InitialAccountsOptions,
): Promise<void> {
  const configured = env["XO_ADMIN_PASSWORD"];
  if (configured) checkConfigured(configured, policy);
  const password = configured || createPassword();
  const file = configured ? undefined : passwordFile;
  // Written before the user is created: if the file cannot be written, the password would be lost.
  if (file !== undefined) await writePassword(file, password);
  const admin = { name: ADMIN, password, permission: "admin" } as const;
  if (!(await unlessExists(users.create(admin)))) {
    if (file !== undefined) await rm(file, { force: true });
    return;
  }
  const created = `Initial admin user "${ADMIN}" created`;
  if (configured)
    logger.warn(`${created} with the password from $XO_ADMIN_PASSWORD`);
  else if (file === undefined)
    logger.warn(`${created}. Initial admin password: ${password}`);
  else
    logger.warn(
      `${created}. Its password is in ${file}: delete this file after the first sign-in`,
    );
}

function checkConfigured(password: string, policy: PasswordPolicy): void {
  try {
    policy.check(password);
  } catch (error) {
    throw new XoError("CONFIG_INVALID", {
      where: "$XO_ADMIN_PASSWORD",
      reason: (error as XoError).data["reason"],
    });
  }
}

async function writePassword(file: string, password: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await rm(file, { force: true });
  await writeFile(file, `${password}\n`, { mode: 0o600, flag: "wx" });
}

/** 120 random bits, base64url. */
export function createPassword(): string {
  return randomBytes(15).toString("base64url");
}

/**
 * Several servers may start at the same time with one database.
 * @returns whether this server has created the record
 */
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
