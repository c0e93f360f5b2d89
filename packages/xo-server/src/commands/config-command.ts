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

/** In the environment, for who cannot be asked. */
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
  // Nothing that is there is overwritten, and nobody else can read it.
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
  return ok([`the configuration is in ${file}, encrypted`]);
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
  return ok([
    `the configuration of ${file} is in the place of the one that was there`,
  ]);
}

async function choosePassphrase(options: PassphraseOptions): Promise<string> {
  const passphrase = await readPassphrase(options, "New passphrase");
  if (passphrase.length < 8)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "the passphrase has less than 8 characters",
    });
  if ((options.env ?? process.env)[PASSPHRASE]) return passphrase;
  if (passphrase === (await readPassphrase(options, "Once more")))
    return passphrase;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "the passphrases are not the same",
  });
}

async function readPassphrase(
  { env = process.env, readSecret }: PassphraseOptions,
  question: string,
): Promise<string> {
  const given = env[PASSPHRASE] ?? "";
  if (given !== "") return given;
  const told = (await readSecret?.(question)) ?? "";
  if (told !== "") return told;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `there is no passphrase, neither typed nor in ${PASSPHRASE}`,
  });
}

function toFileError(error: unknown): Error {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === undefined || path === undefined) return error as Error;
  const reason = code === "EEXIST" ? "it is there already" : code;
  return new XoError("INVALID_PARAMETERS", { reason: `${path}: ${reason}` });
}
