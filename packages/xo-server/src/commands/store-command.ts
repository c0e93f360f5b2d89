import { XoError } from "@xo-server/model";
import { openStore, type Store, type User } from "@xo-server/store";
import type { Config } from "../config/config.js";
import { loadConfig } from "../config/load-config.js";
import { ExitCode, exitCodeOf } from "../lifecycle/exit-code.js";
import { createPassword } from "../auth/users/initial-accounts.js";
import { PasswordPolicy } from "../auth/users/password-policy.js";
import { toStoreOptions } from "../boot/start-store.js";
import { runAuditCommand } from "./audit-command.js";
import { runConfigCommand } from "./config-command.js";
import { runLeaveCommand } from "./leave-command.js";
import type {
  CommandResult,
  StoreCommand,
  StoreCommandOptions,
  UserCommand,
} from "./store-command-types.js";
import { writeAuditEntry, ok } from "./command-result.js";

/**
 * Runs a command on the database.
 * @returns the output and the exit code; an XoError becomes output
 */
export async function runStoreCommand(
  options: StoreCommandOptions,
): Promise<CommandResult> {
  try {
    const { configPath, dataDir } = options;
    const { config } = loadConfig(configPath, { dataDir });
    const store = await openStore({
      ...toStoreOptions(config),
      ...options.storeCosts,
      create: "never",
      sqliteThread: false,
    });
    try {
      return await run(store, options, config);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
    return {
      text: `${error.message}${hintOf(error)}\n`,
      code: exitCodeOf(error) ?? ExitCode.failed,
    };
  }
}

function hintOf({ code, data }: XoError): string {
  if (code === "LAST_ADMIN") return "; --force deletes it";
  const { reason, known, canForce } = data;
  if (code === "FORBIDDEN_OPERATION")
    return `: ${String(reason)}${canForce === true ? "; --force hands over anyway" : ""}`;
  return Array.isArray(known) && known.length > 0
    ? `; there are ${known.join(", ")}`
    : "";
}

async function run(
  store: Store,
  options: StoreCommandOptions,
  config: Config,
): Promise<CommandResult> {
  const { command } = options;
  switch (command.verb) {
    case "config export":
    case "config import":
      return runConfigCommand(store, command, options);
    case "audit verify":
    case "audit list":
    case "audit prune":
    case "audit accept":
      return runAuditCommand(store, command);
    case "leave":
      return runLeaveCommand(store, command, config);
    case "user list":
    case "user add":
    case "user password":
    case "user remove":
    case "user make-admin":
      return runUserCommand(store, command, {
        policy: new PasswordPolicy(config.auth),
        readInput: options.readInput,
      });
  }
}

async function runUserCommand(
  store: Store,
  command: UserCommand,
  source: PasswordSource,
): Promise<CommandResult> {
  switch (command.verb) {
    case "user list":
      return ok(Array.from(store.users.list(), toLine).toSorted());
    case "user add":
      return addUser(store, command, source);
    case "user password":
      return setPassword(store, command, source);
    case "user remove": {
      const { id } = find(store, command.name);
      await store.users.delete(id, { allowNoAdmin: command.isForced });
      await writeAuditEntry(store, command);
      return ok([`user "${command.name}" deleted`]);
    }
    case "user make-admin": {
      const { id } = find(store, command.name);
      await store.users.update(id, { permission: "admin" });
      await writeAuditEntry(store, command);
      return ok([`user "${command.name}" is an admin`]);
    }
  }
}

/** Source of passwords, and requirements for them. */
interface PasswordSource extends Pick<StoreCommandOptions, "readInput"> {
  readonly policy: PasswordPolicy;
}

async function addUser(
  store: Store,
  command: StoreCommand & { verb: "user add" },
  source: PasswordSource,
): Promise<CommandResult> {
  const { name, isAdmin } = command;
  const { password, lines } = await choosePassword(command, source);
  const permission = isAdmin ? "admin" : "none";
  await store.users.create({ name, password, permission });
  await writeAuditEntry(store, command);
  return ok([`user "${name}" created`, ...lines]);
}

async function setPassword(
  store: Store,
  command: StoreCommand & { verb: "user password" },
  source: PasswordSource,
): Promise<CommandResult> {
  const { id, name, hasTotp } = find(store, command.name);
  const { password, lines } = await choosePassword(command, source);
  await store.users.setPassword(id, password);
  // A user who has lost a password has often lost the second factor too, or the
  // account is compromised.
  if (hasTotp) await store.users.setTotp(id, null);
  await store.tokens.deleteOfUser(id);
  await writeAuditEntry(store, command);
  return ok([
    `password of user "${name}" reset; all tokens revoked${hasTotp ? ", two-factor authentication removed" : ""}`,
    ...lines,
  ]);
}

async function choosePassword(
  { fromStdin }: { readonly fromStdin: boolean },
  { readInput, policy }: PasswordSource,
): Promise<{ password: string; lines: readonly string[] }> {
  if (!fromStdin) {
    const password = createPassword();
    return { password, lines: [`password: ${password}`] };
  }
  const [password = ""] = (await readInput()).split(/\r?\n/);
  if (password === "")
    throw new XoError("INVALID_PARAMETERS", {
      reason: "no password on the standard input",
    });
  policy.check(password);
  return { password, lines: [] };
}

function find({ users }: Store, name: string): User {
  const user = users.findByName(name) ?? users.get(name);
  if (user !== undefined) return user;
  throw new XoError("NO_SUCH_OBJECT", { type: "user", id: name });
}

function toLine({ id, name, permission, hasTotp }: User): string {
  return [name, permission, hasTotp ? "two-factor" : "", id]
    .filter((part) => part !== "")
    .join("  ");
}
