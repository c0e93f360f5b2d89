import type { Store } from "@xo-server/store";
import { randomBytes, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** The configuration in an encrypted file, which a worker reads. */
interface ConfigurationFile {
  readonly path: string;
  /** Opens the file. It is stored in the backup, whose repository is encrypted too. */
  readonly passphrase: string;
  remove(): Promise<void>;
}

interface ConfigurationFilesOptions {
  readonly store: Pick<Store, "exportConfiguration">;
  /** Its files are removed at the start. */
  readonly folder: string;
}

/** Temporary files with the configuration of the server. */
export class ConfigurationFiles {
  readonly #options: ConfigurationFilesOptions;

  constructor(options: ConfigurationFilesOptions) {
    this.#options = options;
  }

  /** Removes files of the previous process. */
  clear(): Promise<void> {
    return rm(this.#options.folder, { recursive: true, force: true });
  }

  /** @throws errors of the file system */
  async create(signal: AbortSignal): Promise<ConfigurationFile> {
    const { store, folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${randomUUID()}.xoconf`);
    const passphrase = randomBytes(32).toString("base64url");
    const remove = () => rm(path, { force: true });
    try {
      await pipeline(
        store.exportConfiguration(passphrase),
        createWriteStream(path, { mode: 0o600 }),
        { signal },
      );
    } catch (error) {
      await remove();
      throw error;
    }
    return { path, passphrase, remove };
  }
}
