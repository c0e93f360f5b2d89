import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Logger, WallClock } from "@xo-server/kit";
import type { StoreSettings } from "../options.js";

/** An entry of the audit log that this server has written or seen. */
export interface MarkedEntry {
  readonly seq: number;
  readonly hash: string;
}

interface AuditMarkOptions {
  readonly file: string;
  /** Whether the folder of the file is created if it is missing. */
  readonly createsFolder: boolean;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** Interval of writes of the file, in ms: an append does not wait for them. */
const WRITE_INTERVAL_MS = 1_000;
const LINE = /^(\d{1,15}) ([0-9a-f]{64})$/;

/**
 * High-water mark of the audit log, in a file outside the database: a database
 * that lost its last entries, or was replaced by an older copy, does not contain
 * the marked entry. The mark never precedes the database, as it is written after
 * the commit; it may be up to a second behind. Several processes may share the file.
 */
export class AuditMark {
  readonly #options: AuditMarkOptions;
  /** The newest entry, not yet in the file. */
  #next: MarkedEntry | undefined;
  /** A mark that the database does not contain: stored, so that every verification reports it. */
  #rejected: MarkedEntry | undefined;
  #timer: unknown;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: AuditMarkOptions) {
    this.#options = options;
  }

  /** @returns undefined: the server has none */
  static of({
    auditMark: file,
    create,
    clock,
    logger,
  }: Pick<StoreSettings, "auditMark" | "create" | "clock" | "logger">):
    | AuditMark
    | undefined {
    const createsFolder = create !== "never";
    return file === ""
      ? undefined
      : new AuditMark({ file, createsFolder, clock, logger });
  }

  get file(): string {
    return this.#options.file;
  }

  /** @returns undefined: there is no readable mark */
  async read(): Promise<MarkedEntry | undefined> {
    const { file, logger } = this.#options;
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT")
        logger.warn("the high-water mark of the audit log cannot be read", {
          file,
          code,
        });
      return undefined;
    }
    const match = LINE.exec(text.trim());
    if (match !== null) return { seq: Number(match[1]), hash: match[2]! };
    logger.warn("the high-water mark of the audit log is damaged", { file });
    return undefined;
  }

  /** Stores a mark that the database does not contain until `replace`. */
  reject(mark: MarkedEntry): void {
    this.#rejected = mark;
  }

  /** Marks an entry, within WRITE_INTERVAL_MS. */
  raise({ seq, hash }: MarkedEntry): void {
    if (seq <= (this.#next?.seq ?? -1)) return;
    this.#next = { seq, hash };
    this.#timer ??= this.#options.clock.setTimeout(
      () => void this.flush(),
      WRITE_INTERVAL_MS,
    );
  }

  /** Writes the file now. Never rejects: an audit log without a mark is verified by its chain alone. */
  flush(): Promise<void> {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing
      .then(() => this.#writeNext())
      .catch((error: unknown) => this.warn(error));
    return this.#writing;
  }

  /** Logs that the file could not be written. */
  warn(error: unknown): void {
    const { file, logger } = this.#options;
    const { code } = error as NodeJS.ErrnoException;
    logger.warn("the high-water mark of the audit log cannot be written", {
      file,
      code,
    });
  }

  /** Replaces the mark, also by a lower one. @throws errors of the file system */
  async replace({ seq, hash }: MarkedEntry): Promise<void> {
    await this.flush();
    this.#rejected = undefined;
    await this.#write({ seq, hash });
  }

  async #writeNext(): Promise<void> {
    const next = this.#next;
    if (next === undefined) return;
    const current = await this.read();
    // Another process may have raised the mark, or replaced a rejected one.
    const isRejected =
      this.#rejected !== undefined && current?.hash === this.#rejected.hash;
    if (!isRejected && next.seq > (current?.seq ?? -1)) await this.#write(next);
    if (this.#next === next) this.#next = undefined;
  }

  async #write({ seq, hash }: MarkedEntry): Promise<void> {
    const { file, createsFolder } = this.#options;
    if (createsFolder)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}`;
    try {
      const handle = await open(draft, "wx", 0o600);
      try {
        await handle.writeFile(`${seq} ${hash}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
    } catch (error) {
      // The first error is the one to report.
      await rm(draft, { force: true }).catch(() => undefined);
      throw error;
    }
  }
}
