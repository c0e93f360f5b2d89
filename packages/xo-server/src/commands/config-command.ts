import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type {
  ConfigCommand,
  CommandResult,
  StoreCommandOptions,
} from "./store-command-types.js";
import { writeAuditEntry, ok } from "./command-result.js";

/** Environment variable with the passphrase, for use without a terminal. */
export const PASSPHRASE = "XO_CONFIG_PASSPHRASE";

type PassphraseOptions = Pick<StoreCommandOptions, "readSecret" | "env">;

/** `xo-server config ...` */
export async function runConfigCommand(
  store: Store,
  command: ConfigCommand,
  options: PassphraseOptions,
): Promise<CommandResult> {
  try {
    return await (command.verb === "config export"
      ? exportTo(store, command, options)
      : importFrom(store, command, options));
  } catch (error) {
    throw error instanceof XoError ? error : toFileError(error);
  }
}

async function exportTo(
  store: Store,
  command: ConfigCommand,
  options: PassphraseOptions,
): Promise<CommandResult> {
  const { file } = command;
  const passphrase = await choosePassphrase(options);
  // Fails if the file exists; readable by the owner only.
  const handle = await open(file, "wx", 0o600);
  try {
    for await (const chunk of store.exportConfiguration(passphrase))
      await handle.write(chunk);
    await handle.sync();
  } catch (error) {
    await handle.truncate(0).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
  await writeAuditEntry(store, command);
  return ok([`configuration exported to ${file} (encrypted)`]);
}

async function importFrom(
  store: Store,
  command: ConfigCommand,
  options: PassphraseOptions,
): Promise<CommandResult> {
  const { file } = command;
  const passphrase = await readPassphrase(options, "Passphrase");
  await store.importConfiguration(createReadStream(file), passphrase);
  await writeAuditEntry(store, command);
  return ok([`imported ${file}; the existing configuration was replaced`]);
}

async function choosePassphrase(options: PassphraseOptions): Promise<string> {
  const passphrase = await readPassphrase(options, "New passphrase");
  if (passphrase.length < 8)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "the passphrase must have at least 8 characters",
    });
  if ((options.env ?? process.env)[PASSPHRASE]) return passphrase;
  if (passphrase === (await readPassphrase(options, "Repeat passphrase")))
    return passphrase;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "the passphrases do not match",
  });
}

async function readPassphrase(
  { env = process.env, readSecret }: PassphraseOptions,
  question: string,
): Promise<string> {
  const configured = env[PASSPHRASE] ?? "";
  if (configured !== "") return configured;
  const typed = (await readSecret?.(question)) ?? "";
  if (typed !== "") return typed;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `no passphrase entered, and $${PASSPHRASE} is not set`,
  });
}

function toFileError(error: unknown): Error {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === undefined || path === undefined) return error as Error;
  const reason = code === "EEXIST" ? "file already exists" : code;
  return new XoError("INVALID_PARAMETERS", { reason: `${path}: ${reason}` });
}
