import { randomBytes, randomUUID } from "node:crypto";
import { RepositoryError, isUnreadable } from "../errors.js";
import { manifestFile, type Manifest } from "../format/manifest.js";
import { openSealedJson } from "../format/sealed.js";
import { RepositoryKey } from "../keys/derived-keys.js";
import { parseKeySlot, unwrapKey, wrapKey } from "../keys/key-slot.js";
import { parseRecoveryKey, recoverySheet } from "../keys/recovery-sheet.js";
import { RepositoryLog, digestOf, type Anchor } from "../log/repository-log.js";
import type { BackupReference } from "../log/repository-state.js";
import { putCopied, readCopied, removeCopied } from "../storage/copied-file.js";
import { listAll, type Storage } from "../storage/storage.js";
import {
  CONFIG_FILE,
  createConfig,
  encodeConfig,
  readConfig,
  readConfirmedConfig,
  type RepositoryConfig,
} from "./repository-config.js";
import { PackStore } from "./pack-store.js";

interface RepositoryOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

interface CreateOptions extends RepositoryOptions {
  readonly passphrase: string;
  /** Whether parity files are written: about 6 % more space, one lost or damaged pack of 16 can be repaired. */
  readonly parity?: boolean;
  /** Work factor of scrypt; lower only in tests. */
  readonly scryptN?: number;
}

export type Credentials =
  | { readonly passphrase: string }
  | { readonly recoveryKey: string };

interface OpenOptions extends RepositoryOptions {
  /** The last state that the caller has seen. */
  readonly anchor?: Anchor | undefined;
}

/** An open repository. Several processes may use one at the same time. */
export class Repository {
  readonly storage: Storage;
  readonly key: RepositoryKey;
  readonly config: RepositoryConfig;
  readonly log: RepositoryLog;
  readonly packs: PackStore;
  readonly now: () => number;

  private constructor(
    storage: Storage,
    key: RepositoryKey,
    { config, now }: { config: RepositoryConfig; now: () => number },
  ) {
    this.storage = storage;
    this.key = key;
    this.config = config;
    this.now = now;
    this.log = new RepositoryLog(storage, key, now);
    this.packs = new PackStore(storage, key);
  }

  /** @throws RepositoryError `invalid` if the storage is not empty */
  static async create(
    storage: Storage,
    options: CreateOptions,
  ): Promise<Repository> {
    const { passphrase, parity = false, scryptN, now = Date.now } = options;
    for (const folder of ["log", "keys", "backups"])
      if ((await listAll(storage, folder)).length > 0)
        throw notEmpty(storage.location);
    const key = new RepositoryKey(randomBytes(32));
    const created = new Date(now()).toISOString();
    const config = createConfig(key, { id: randomUUID(), created, parity });
    const repository = new Repository(storage, key, { config, now });
    if (!(await putCopied(storage, CONFIG_FILE, encodeConfig(config))))
      throw notEmpty(storage.location);
    await repository.log.append(() => ({ type: "create" }));
    await repository.addPassphrase("default", passphrase, scryptN);
    return repository;
  }

  /** @throws RepositoryError `wrong-key`, `unsupported`, `damaged`, `rolled-back` */
  static async open(
    storage: Storage,
    credentials: Credentials,
    options: OpenOptions = {},
  ): Promise<Repository> {
    const { now = Date.now, anchor } = options;
    const key = await findKey(storage, credentials);
    const config = await readConfirmedConfig(storage, key);
    const repository = new Repository(storage, key, { config, now });
    await repository.log.load();
    // Its first entry is written when a repository is created. Else all backups would be taken for removed ones.
    if (repository.log.state.sequence === 0)
      throw new RepositoryError(
        "damaged",
        "the log is missing: log/ and copies/log/ have no entries; bring them back, or restore with tools/read-backup.py",
      );
    if (anchor !== undefined) await repository.log.checkAnchor(anchor);
    return repository;
  }

  /** @throws RepositoryError `invalid` if the name is taken or not allowed */
  async addPassphrase(
    name: string,
    passphrase: string,
    scryptN?: number,
  ): Promise<void> {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
      throw new RepositoryError(
        "invalid",
        `name of a passphrase: ${name} is not allowed, only A-Z, a-z, 0-9, _ and -, at most 64`,
      );
    const slot = await wrapKey(this.key, {
      repository: this.config.id,
      name,
      passphrase,
      created: new Date(this.now()).toISOString(),
      ...(scryptN === undefined ? {} : { n: scryptN }),
    });
    const bytes = Buffer.from(`${JSON.stringify(slot, undefined, 2)}\n`);
    if (!(await putCopied(this.storage, `keys/${name}`, bytes)))
      throw new RepositoryError(
        "invalid",
        `name of a passphrase: ${name} exists`,
      );
    await this.log.append(() => ({
      type: "add-key",
      name,
      digest: digestOf(bytes),
    }));
  }

  /**
   * Removes a passphrase. A user who knows it and has a copy of its slot can still
   * derive the key: only a new repository is closed to them.
   * @throws RepositoryError `unknown`, or `invalid` for the last one
   */
  async removePassphrase(name: string): Promise<void> {
    await this.log.append(({ keys }) => {
      if (!keys.has(name))
        throw new RepositoryError(
          "unknown",
          `there is no passphrase ${name}, there are: ${[...keys.keys()].join(", ")}`,
        );
      if (keys.size === 1)
        throw new RepositoryError(
          "invalid",
          `passphrase ${name} is the last one`,
        );
      return { type: "remove-key", name };
    });
    await removeCopied(this.storage, [`keys/${name}`]);
  }

  recoverySheet(): string {
    return recoverySheet({
      key: this.key,
      repository: this.config.id,
      location: this.storage.location,
      date: new Date(this.now()).toISOString(),
    });
  }

  /** All backups, in the order of the log: it needs no clock. */
  async listBackups(): Promise<BackupReference[]> {
    const { backups } = await this.log.refresh();
    return [...backups.values()];
  }

  /** @throws RepositoryError `unknown`, `missing` or `damaged` */
  async readManifest(id: string): Promise<Manifest> {
    const reference = (await this.log.refresh()).backups.get(id);
    if (reference === undefined)
      throw new RepositoryError("unknown", `there is no backup ${id}`);
    return this.readReferencedManifest(reference);
  }

  /** @throws RepositoryError `missing` or `damaged` */
  readReferencedManifest({ id, digest }: BackupReference): Promise<Manifest> {
    const name = manifestFile(id);
    return readCopied(this.storage, name, (bytes) => {
      if (digestOf(bytes) !== digest)
        throw new RepositoryError("damaged", `${name} is damaged`);
      return openSealedJson(this.key, name, bytes) as Manifest;
    });
  }

  /**
   * Removes backups. Their space is released by `collectGarbage`.
   * @throws RepositoryError `unknown`: then none is removed
   */
  async removeBackups(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.log.append(({ backups }) => {
      const unknown = ids.find((id) => !backups.has(id));
      if (unknown !== undefined)
        throw new RepositoryError("unknown", `there is no backup ${unknown}`);
      return { type: "remove-backups", ids };
    });
    await removeCopied(this.storage, ids.map(manifestFile));
  }
}

async function findKey(
  storage: Storage,
  credentials: Credentials,
): Promise<RepositoryKey> {
  await readConfig(storage);
  if ("recoveryKey" in credentials)
    return parseRecoveryKey(credentials.recoveryKey);
  const tried = new Set<string>();
  const files = new Set<string>();
  for (const folder of ["keys", "copies/keys"])
    for (const { name } of await listAll(storage, folder)) {
      files.add(name);
      const slot = await readKeySlot(storage, name);
      if (slot === undefined || tried.has(slot.wrapped)) continue;
      tried.add(slot.wrapped);
      const key = await unwrapKey(slot, credentials.passphrase);
      if (key !== undefined) return key;
    }
  if (tried.size === 0)
    throw new RepositoryError(
      "wrong-key",
      `no passphrase can open this repository: ${files.size === 0 ? "keys/ has no files" : "the files in keys/ are damaged"}; use the recovery key of its recovery sheet`,
    );
  throw new RepositoryError(
    "wrong-key",
    `the passphrase opens none of the ${tried.size} key slots of this repository`,
  );
}

/** @returns undefined if it is damaged, or was removed meanwhile: another slot or its copy may open */
async function readKeySlot(
  storage: Storage,
  name: string,
): Promise<ReturnType<typeof parseKeySlot>> {
  try {
    return parseKeySlot(await storage.read(name));
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

function notEmpty(location: string): RepositoryError {
  return new RepositoryError(
    "invalid",
    `${location} is not empty: a repository is created in an empty folder`,
  );
}
