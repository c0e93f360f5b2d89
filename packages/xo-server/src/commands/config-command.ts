import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, link, open, rename, rm, stat } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type {
  ConfigCommand,
  CommandResult,
  StoreCommandOptions,
} from "./store-command-types.js";
import { writeAuditEntry, ok } from "./command-result.js";

/** Environment variable with the passphrase, for use without a terminal. */
const PASSPHRASE = "XO_CONFIG_PASSPHRASE";

type ConfigOptions = Pick<
  StoreCommandOptions,
  "readSecret" | "readLine" | "input" | "output" | "env"
>;
type PassphraseOptions = Pick<StoreCommandOptions, "readSecret" | "env">;

/** File name that stands for standard input or output. */
const STANDARD = "-";

/** Runs `xo-server config ...`. */
export async function runConfigCommand(
  store: Store,
  command: ConfigCommand,
  options: ConfigOptions,
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
  command: ConfigCommand & { verb: "config export" },
  options: ConfigOptions,
): Promise<CommandResult> {
  const { file, isForced } = command;
  const isStandard = file === STANDARD;
  if (!isForced && !isStandard) await checkAbsent(file);
  const passphrase = await choosePassphrase(options);
  const chunks = store.exportConfiguration(passphrase);
  if (isStandard)
    for await (const chunk of chunks) await options.output?.(chunk);
  else await writeFile(file, chunks, isForced);
  await writeAuditEntry(store, command);
  const where = isStandard ? "standard output" : file;
  const result = ok([`configuration exported to ${where} (encrypted)`]);
  return { ...result, isOutputUsed: isStandard };
}

async function checkAbsent(file: string): Promise<void> {
  if (
    await stat(file).then(
      () => true,
      () => false,
    )
  )
    throw alreadyExists(file);
}

/**
 * Writes a file that only its owner can read. An existing file is replaced by a
 * complete one or not at all.
 */
async function writeFile(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  isForced: boolean,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.new`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      for await (const chunk of chunks) await handle.write(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Linking fails if the file was created in the meantime.
    if (isForced) await rename(temporary, file);
    else await link(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function importFrom(
  store: Store,
  command: ConfigCommand & { verb: "config import" },
  options: ConfigOptions,
): Promise<CommandResult> {
  const { file, isConfirmed, allowNoAdmin } = command;
  const isStandard = file === STANDARD;
  if (!isStandard) await access(file);
  if (!isConfirmed) await confirm(store, options);
  const passphrase = await readPassphrase(options, "Passphrase");
  const bytes = isStandard ? (options.input ?? []) : createReadStream(file);
  await store.importConfiguration(toIterable(bytes), passphrase, {
    allowNoAdmin,
  });
  await forgetInspections(store);
  await writeAuditEntry(store, command);
  const what = isStandard ? "the standard input" : file;
  return ok([`imported ${what}; the existing configuration was replaced`]);
}

/** Sizes of backup repositories are those of the time of the export: the server reads them at its next start. */
async function forgetInspections({
  backupRepositories,
}: Pick<Store, "backupRepositories">): Promise<void> {
  for (const { id } of [...backupRepositories.list()])
    await backupRepositories.changeState(id, ({ inspectedAt, ...state }) => {
      void inspectedAt;
      return state;
    });
}

async function* toIterable(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** @throws XoError INVALID_PARAMETERS: not confirmed */
async function confirm(
  store: Store,
  { readLine }: Pick<StoreCommandOptions, "readLine">,
): Promise<void> {
  const count = (rows: Iterable<unknown>) => [...rows].length;
  const { users, servers, jobs } = store;
  const present = `${count(users.list())} users, ${count(servers.list())} servers and ${count(jobs.list())} jobs`;
  if (readLine === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `the import replaces ${present}: confirm it with --yes`,
    });
  const typed = await readLine(
    `The import replaces ${present}. Type "yes" to continue`,
  );
  if (typed.trim().toLowerCase() !== "yes")
    throw new XoError("ABORTED", { what: "the import" });
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

/** Explanations for administrators in place of the error codes of the operating system. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOSPC: "no space left on the device",
  EROFS: "read-only file system",
};

function toFileError(error: unknown): Error {
  const { code, path, dest } = error as NodeJS.ErrnoException & {
    readonly dest?: string;
  };
  if (code === undefined || path === undefined) return error as Error;
  if (code === "EEXIST") return alreadyExists(dest ?? path);
  const reason = `${path}: ${REASONS[code] ?? code}`;
  return new XoError("INVALID_PARAMETERS", { reason }, error);
}

function alreadyExists(file: string): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: `${file}: file already exists (--force replaces it)`,
  });
}
