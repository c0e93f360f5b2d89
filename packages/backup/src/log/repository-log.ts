import { createHash } from "node:crypto";
import { RepositoryError, isMissing } from "../errors.js";
import { openSealedJson, sealJson } from "../format/sealed.js";
import type { RepositoryKey } from "../keys/derived-keys.js";
import { copyOf, putCopied, readCopied } from "../storage/copied-file.js";
import { readAgain } from "../storage/read-again.js";
import { listAll, type Storage } from "../storage/storage.js";
import {
  CHECKPOINT_INTERVAL,
  checkpointFile,
  logFile,
  type LogChange,
  type LogEntry,
} from "./log-entry.js";
import {
  applyEntry,
  emptyState,
  stateFromJson,
  stateToJson,
  type RepositoryState,
  type StateJson,
} from "./repository-state.js";

/** A state that the caller has seen, kept outside of the repository: an older repository is noticed. */
export interface Anchor {
  readonly sequence: number;
  readonly digest: string;
}

/** Attempts to append while other processes append too. */
const MAX_ATTEMPTS = 100;

/**
 * The log of a repository: a total order of all changes. The next entry is
 * created by `putIfAbsent`, so that of two processes one succeeds and the
 * other decides again on the new state.
 */
export class RepositoryLog {
  readonly #storage: Storage;
  readonly #key: RepositoryKey;
  readonly #now: () => number;
  #state = emptyState;

  /** @param now milliseconds since the epoch */
  constructor(storage: Storage, key: RepositoryKey, now: () => number) {
    this.#storage = storage;
    this.#key = key;
    this.#now = now;
  }

  /** The state when it was last read. */
  get state(): RepositoryState {
    return this.#state;
  }

  get anchor(): Anchor {
    const { sequence, digest } = this.#state;
    return { sequence, digest };
  }

  /**
   * Reads the newest checkpoint and the entries after it.
   * @throws RepositoryError `damaged` if an entry is missing or changed
   */
  load(): Promise<void> {
    return readAgain(() => this.#load());
  }

  async #load(): Promise<void> {
    const last = await this.lastSequence();
    const checkpoints = await listAll(this.#storage, "checkpoints");
    const sequences = checkpoints
      .flatMap(({ name }) => sequenceOf(name))
      .filter((sequence) => sequence <= last)
      .sort((a, b) => b - a);
    for (const sequence of sequences) {
      const state = await this.#readCheckpoint(sequence);
      if (state === undefined) continue;
      this.#state = state;
      break;
    }
    await this.refresh();
    // Other processes may have appended entries since.
    if (this.#state.sequence < last)
      throw new RepositoryError(
        "damaged",
        `log entry ${this.#state.sequence + 1} of ${last} does not exist`,
      );
  }

  /** Reads entries that were added since. @throws RepositoryError `damaged` */
  async refresh(): Promise<RepositoryState> {
    for (;;) {
      const sequence = this.#state.sequence + 1;
      const found = await this.readEntry(sequence);
      if (found !== undefined) this.#apply(found.entry, found.digest);
      // Else the end, unless another call has read further meanwhile.
      else if (sequence > this.#state.sequence) return this.#state;
    }
  }

  /**
   * Appends what `decide` makes of the newest state; it is called again when
   * another process was faster. Nothing is appended if it returns undefined.
   */
  async append(
    decide: (
      state: RepositoryState,
    ) => Promise<LogChange | undefined> | LogChange | undefined,
  ): Promise<RepositoryState> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const state = await this.refresh();
      const change = await decide(state);
      if (change === undefined) return state;
      const entry: LogEntry = {
        version: 1,
        sequence: state.sequence + 1,
        previous: state.digest,
        time: new Date(this.#now()).toISOString(),
        change,
      };
      const name = logFile(entry.sequence);
      const bytes = sealJson(this.#key, name, entry);
      if (!(await this.#put(name, bytes))) continue;
      this.#apply(entry, digestOf(bytes));
      await this.#writeCheckpoint();
      return this.#state;
    }
    throw new RepositoryError(
      "conflict",
      "other processes write to the log without a pause",
    );
  }

  /** An entry and the digest of its file, or undefined if there is none. @throws RepositoryError `damaged` */
  async readEntry(
    sequence: number,
  ): Promise<{ entry: LogEntry; digest: string } | undefined> {
    const name = logFile(sequence);
    try {
      return await readCopied(this.#storage, name, (bytes) => ({
        entry: openSealedJson(this.#key, name, bytes) as LogEntry,
        digest: digestOf(bytes),
      }));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** The entries after a sequence up to the present state. @throws RepositoryError `damaged` */
  async entriesAfter(sequence: number): Promise<LogEntry[]> {
    const entries: LogEntry[] = [];
    for (let i = sequence + 1; i <= this.#state.sequence; i++) {
      const found = await this.readEntry(i);
      if (found === undefined)
        throw new RepositoryError("damaged", `log entry ${i} does not exist`);
      entries.push(found.entry);
    }
    return entries;
  }

  /** @throws RepositoryError `rolled-back` */
  async checkAnchor({ sequence, digest }: Anchor): Promise<void> {
    const found =
      sequence === this.#state.sequence
        ? this.#state
        : sequence < this.#state.sequence
          ? await this.readEntry(sequence)
          : undefined;
    if (found?.digest !== digest)
      throw new RepositoryError(
        "rolled-back",
        `the repository is at change ${this.#state.sequence} and does not contain change ${sequence} that was seen before`,
      );
  }

  /** The highest sequence of which the file or its copy exists. */
  async lastSequence(): Promise<number> {
    const folders = ["log", copyOf("log")];
    const files = await Promise.all(
      folders.map((folder) => listAll(this.#storage, folder)),
    );
    return files
      .flat()
      .flatMap(({ name }) => sequenceOf(name))
      .reduce((most, sequence) => Math.max(most, sequence), 0);
  }

  #apply(entry: LogEntry, digest: string): void {
    const { sequence, digest: previous } = this.#state;
    if (entry.sequence <= sequence) return; // another call was faster
    if (
      entry.version !== 1 ||
      entry.sequence !== sequence + 1 ||
      entry.previous !== previous
    )
      throw new RepositoryError(
        "damaged",
        `log entry ${sequence + 1} does not follow the one before`,
      );
    this.#state = applyEntry(this.#state, entry, digest);
  }

  /** An answer may get lost although the file was created: compare before another attempt. */
  async #put(name: string, bytes: Buffer): Promise<boolean> {
    if (await putCopied(this.#storage, name, bytes)) return true;
    // Unreadable: the caller decides again, as when another server has written the entry.
    const present = await this.#storage.read(name).catch(() => undefined);
    if (!present?.equals(bytes)) return false;
    await this.#storage.putIfAbsent(copyOf(name), [bytes]);
    return true;
  }

  async #writeCheckpoint(): Promise<void> {
    const { sequence } = this.#state;
    if (sequence % CHECKPOINT_INTERVAL !== 0) return;
    const name = checkpointFile(sequence);
    const bytes = sealJson(this.#key, name, stateToJson(this.#state));
    await this.#storage.putIfAbsent(name, [bytes]);
  }

  /** A checkpoint only saves time: one that cannot be read is left out, verify reports it. */
  async #readCheckpoint(
    sequence: number,
  ): Promise<RepositoryState | undefined> {
    const name = checkpointFile(sequence);
    try {
      const json = openSealedJson(
        this.#key,
        name,
        await this.#storage.read(name),
      ) as StateJson;
      if (json.version !== 1 || json.sequence !== sequence) return undefined;
      return stateFromJson(json);
    } catch (error) {
      if (error instanceof RepositoryError) return undefined;
      throw error;
    }
  }
}

/** @returns nothing for files of others: file servers put some beside ours (`.nfs...`, `.DS_Store`) */
function sequenceOf(file: string): number[] {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return /^\d{10,15}$/.test(name) ? [Number(name)] : [];
}

/** Hexadecimal SHA-256, as the log has it of entries, key slots and manifests. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
