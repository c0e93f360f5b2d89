import type { WallClock } from "@xo-server/kit";
import { readFile, stat } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import type { Logger } from "../../log/logger.js";
import { toKeyPair, type KeyPair } from "./key-pair.js";

interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

interface CertificateWatchOptions extends CertificateFiles {
  readonly onChange: (pair: KeyPair) => void;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/**
 * Files are polled, not watched: agents and orchestrators replace symbolic links,
 * and file system notifications miss some of these changes.
 */
const POLL_MS = 5_000;

/** @throws XoError CONFIG_INVALID */
export async function readCertificate({
  certificate,
  key,
}: CertificateFiles): Promise<KeyPair> {
  const [cert, keyText] = await Promise.all([
    readText(certificate),
    readText(key),
  ]);
  return toKeyPair(cert, keyText, certificate);
}

/** @throws XoError CONFIG_INVALID with the path */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new XoError("CONFIG_INVALID", {
      where: path,
      reason: code === "ENOENT" ? "no such file" : `cannot be read (${code})`,
    });
  }
}

/**
 * Reloads the key pair when a file changes. An invalid or partially replaced pair
 * is logged and ignored: the previous one stays in use.
 */
export class CertificateWatch {
  readonly #options: CertificateWatchOptions;
  #versions: string;
  #timer: unknown;
  #isStopped = false;

  constructor(options: CertificateWatchOptions, seen: string) {
    this.#options = options;
    this.#versions = seen;
    this.#scheduleCheck();
  }

  /** Reads the files even if they are unchanged. Never rejects. */
  async reload(): Promise<void> {
    const { logger, onChange } = this.#options;
    try {
      this.#versions = await fileVersionsOf(this.#options);
      const pair = await readCertificate(this.#options);
      if (!this.#isStopped) onChange(pair);
    } catch (error) {
      const { message } = error as Error;
      logger.error(
        `failed to reload the TLS certificate, the previous one stays in use: ${message}`,
      );
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #scheduleCheck(): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.setTimeout(() => {
      void this.check().then(() => {
        this.#scheduleCheck();
      });
    }, POLL_MS);
  }

  async check(): Promise<void> {
    const versions = await fileVersionsOf(this.#options);
    if (versions !== this.#versions && !this.#isStopped) await this.reload();
  }
}

/** A string that changes whenever one of the files is written or replaced. */
export async function fileVersionsOf(files: CertificateFiles): Promise<string> {
  const versions = [files.certificate, files.key].map(async (path) => {
    // A missing file counts as a version of its own; loading the certificate reports it.
    const found = await stat(path).catch(() => undefined);
    return `${found?.ino} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(versions)).join(", ");
}
