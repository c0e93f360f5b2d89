import { readFile, stat } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import type { Clock } from "../../clock.js";
import type { Logger } from "../../log/logger.js";
import { toKeyPair, type KeyPair } from "./key-pair.js";

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateWatchOptions extends CertificateFiles {
  readonly onChange: (pair: KeyPair) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Files are looked at, not watched: those that an agent or an orchestrator
 * replaces are links to links, of which the notifications of file systems miss some.
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

/** A file that cannot be read is told by its name. */
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
 * Reads the pair anew when a file changes. One that is broken, or half
 * replaced, is told of and not taken: the old one goes on.
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

  /** Reads the files whether they seem to have changed or not. Never rejects. */
  async reload(): Promise<void> {
    const { logger, onChange } = this.#options;
    try {
      this.#versions = await fileVersionsOf(this.#options);
      const pair = await readCertificate(this.#options);
      if (!this.#isStopped) onChange(pair);
    } catch (error) {
      const { message } = error as Error;
      logger.error(`the old certificate stays: ${message}`);
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
    const mark = await fileVersionsOf(this.#options);
    if (mark !== this.#versions && !this.#isStopped) await this.reload();
  }
}

/** Differs when one of the files has been written or replaced. */
export async function fileVersionsOf(files: CertificateFiles): Promise<string> {
  const marks = [files.certificate, files.key].map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    return `${found?.ino} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(marks)).join(", ");
}
