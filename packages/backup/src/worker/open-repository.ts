import { readdir } from "node:fs/promises";
import { RepositoryError } from "../errors.js";
import { recoveryKey } from "../keys/recovery-sheet.js";
import type { Anchor } from "../log/repository-log.js";
import { CONFIG_FILE } from "../repository/repository-config.js";
import { Repository, type Credentials } from "../repository/repository.js";
import { copyOf } from "../storage/copied-file.js";
import { listAll, type Storage } from "../storage/storage.js";
import type { OpenResult } from "./order-results.js";
import type { RepositoryAccess } from "./work-order.js";

/** What file systems and file servers put into an empty folder. */
const OF_FILE_SYSTEM = new Set(["lost+found", ".snapshot", ".zfs"]);

/** @throws RepositoryError `absent`, and as Repository.open */
export async function openRepository(
  storage: Storage,
  credentials: Credentials,
  anchor: Anchor | undefined,
): Promise<Repository> {
  if (
    (await storage.size(CONFIG_FILE)) === undefined &&
    (await storage.size(copyOf(CONFIG_FILE))) === undefined
  ) {
    for (const folder of ["log", "backups", "packs"])
      if ((await listAll(storage, folder)).length > 0)
        throw new RepositoryError(
          "damaged",
          `${storage.location} has files of a repository, but ${CONFIG_FILE} and ${copyOf(CONFIG_FILE)} are missing: bring one of them back`,
        );
    throw new RepositoryError(
      "absent",
      `${storage.location} holds no repository; if it is a mount, check that it is mounted`,
    );
  }
  return Repository.open(storage, credentials, { anchor });
}

/** What opens the repository of an order. @throws RepositoryError `invalid` */
export function credentialsOf({
  passphrase,
  recoveryKey,
}: Pick<RepositoryAccess, "passphrase" | "recoveryKey">): Credentials {
  if (recoveryKey !== undefined) return { recoveryKey };
  if (passphrase !== undefined) return { passphrase };
  throw new RepositoryError(
    "invalid",
    "work order: passphrase or recoveryKey is needed",
  );
}

/**
 * The result of a worker that opened or created a repository; `created` in
 * milliseconds since the epoch.
 */
export function describeOpened({
  config,
  key,
  log,
}: Repository): Omit<OpenResult, "anchor"> {
  return {
    id: config.id,
    created: Date.parse(config.created),
    parity: config.parity,
    recoveryKey: recoveryKey(key),
    passphrases: [...log.state.keys.keys()],
  };
}

/**
 * A folder that does not exist is not created: it may be a mount that is missing.
 * @throws RepositoryError `invalid`; errors of the file system
 */
export async function checkEmptyFolder(path: string): Promise<void> {
  const names = await readdir(path);
  const found = names.filter((name) => !OF_FILE_SYSTEM.has(name));
  if (found.length === 0) return;
  if (found.includes(CONFIG_FILE))
    throw new RepositoryError(
      "invalid",
      `${path} holds a repository: its passphrase or recovery key is needed to open it`,
    );
  const few = found.slice(0, 3).join(", ");
  throw new RepositoryError(
    "invalid",
    `${path} is not empty (${few}${found.length > 3 ? ", ..." : ""}): a repository is created in an empty folder`,
  );
}
