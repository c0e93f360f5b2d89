import { isMissing, isUnreadable, RepositoryError } from "../errors.js";
import { isManifestFile } from "../format/file-names.js";
import { manifestFile, type Manifest } from "../format/manifest.js";
import { openSealedJson, sealJson } from "../format/sealed.js";
import {
  CHECKPOINT_INTERVAL,
  checkpointFile,
  logFile,
  type LogEntry,
} from "../log/log-entry.js";
import { digestOf } from "../log/repository-log.js";
import {
  applyEntry,
  emptyState,
  stateToJson,
  type StateJson,
  type RepositoryState,
} from "../log/repository-state.js";
import {
  CONFIG_FILE,
  confirmConfig,
  parseConfig,
} from "../repository/repository-config.js";
import type { Repository } from "../repository/repository.js";
import { copyOf } from "../storage/copied-file.js";
import { readAgain } from "../storage/read-again.js";
import { listAll } from "../storage/storage.js";
import type { Finding } from "./finding.js";
import { quarantine } from "./quarantine.js";

/** Checks every file but packs and parity, against the key and the log. */
export class MetadataVerifier {
  readonly findings: Finding[] = [];
  readonly #repository: Repository;
  readonly #repair: boolean;

  constructor(repository: Repository, repair: boolean) {
    this.#repository = repository;
    this.#repair = repair;
  }

  /** @returns the manifests that can be read, by id */
  async verify(): Promise<Map<string, Manifest>> {
    const { key } = this.#repository;
    const state = await this.#repository.log.refresh();
    await this.#check(CONFIG_FILE, [], (bytes) => {
      confirmConfig(key, parseConfig(bytes));
    });
    await this.#checkLog(state);
    for (const [name, digest] of state.keys)
      await this.#check(`keys/${name}`, [], hasDigest(digest));
    const manifests = new Map<string, Manifest>();
    for (const { id, digest } of state.backups.values()) {
      const name = manifestFile(id);
      const bytes = await this.#check(name, [id], hasDigest(digest));
      if (bytes !== undefined)
        manifests.set(id, openSealedJson(key, name, bytes) as Manifest);
    }
    await this.#findUnknown("keys", new Set(state.keys.keys()));
    await this.#findUnknown("backups", new Set(state.backups.keys()));
    return manifests;
  }

  /**
   * Checks a file and its copy, and writes one from the other.
   * @param check throws if the bytes are wrong
   * @returns the right bytes, if there are any
   */
  async #check(
    name: string,
    backups: readonly string[],
    check: (bytes: Buffer) => void,
  ): Promise<Buffer | undefined> {
    const names = [name, copyOf(name)];
    const results = await Promise.all(
      names.map((file) => this.#read(file, check)),
    );
    const right = results.find((result) => Buffer.isBuffer(result));
    for (const [i, result] of results.entries()) {
      if (Buffer.isBuffer(result)) continue;
      await this.#repairFile(names[i]!, result, { backups, right, check });
    }
    return right;
  }

  /** Reports a file, and writes it if its bytes are known. */
  async #repairFile(
    file: string,
    problem: "missing" | "damaged",
    {
      backups = [],
      right,
      check,
    }: {
      readonly backups?: readonly string[];
      readonly right: Uint8Array | undefined;
      readonly check: (bytes: Buffer) => void;
    },
  ): Promise<void> {
    const { storage } = this.#repository;
    let isRepaired = false;
    if (this.#repair && right !== undefined) {
      if (problem === "damaged") await quarantine(storage, file);
      isRepaired = await storage.putIfAbsent(file, [right]);
      // Another process was just writing it, as it creates the file before its copy.
      const isThere = !isRepaired && (await this.#isRight(file, check));
      if (isThere && problem === "missing") return;
      isRepaired ||= isThere;
    }
    this.findings.push({ file, problem, isRepaired, backups });
  }

  async #isRight(
    file: string,
    check: (bytes: Buffer) => void,
  ): Promise<boolean> {
    return Buffer.isBuffer(await this.#read(file, check));
  }

  async #read(
    file: string,
    check: (bytes: Buffer) => void,
  ): Promise<Buffer | "missing" | "damaged"> {
    try {
      return await readAgain(async () => {
        const bytes = await this.#repository.storage.read(file);
        confirm(file, bytes, check);
        return bytes;
      });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return isMissing(error) ? "missing" : "damaged";
    }
  }

  /** From the last entry, whose digest is known, to the first; then the checkpoints. */
  async #checkLog(state: RepositoryState): Promise<void> {
    const { key } = this.#repository;
    const entries: { entry: LogEntry; digest: string }[] = [];
    let { digest } = state;
    for (let sequence = state.sequence; sequence > 0; sequence--) {
      const name = logFile(sequence);
      const bytes = await this.#check(name, [], hasDigest(digest));
      if (bytes === undefined) return; // the entries before cannot be judged
      const entry = openSealedJson(key, name, bytes) as LogEntry;
      entries.push({ entry, digest });
      digest = entry.previous;
    }
    let folded = emptyState;
    for (const { entry, digest } of entries.reverse()) {
      folded = applyEntry(folded, entry, digest);
      if (folded.sequence % CHECKPOINT_INTERVAL !== 0) continue;
      const file = checkpointFile(folded.sequence);
      const expected = stateToJson(folded);
      const check = (bytes: Buffer): void => {
        if (!isSameState(openSealedJson(key, file, bytes), expected))
          throw new RepositoryError("damaged", `${file} is of another state`);
      };
      const result = await this.#read(file, check);
      if (Buffer.isBuffer(result)) continue;
      const right = sealJson(key, file, expected);
      await this.#repairFile(file, result, { right, check });
    }
  }

  async #findUnknown(
    folder: string,
    known: ReadonlySet<string>,
  ): Promise<void> {
    const { storage } = this.#repository;
    for (const location of [folder, copyOf(folder)])
      for (const { name: file } of await listAll(storage, location))
        if (
          isUnknown(folder + file.slice(location.length), known) &&
          (await storage.size(file)) !== undefined
        )
          this.findings.push({
            file,
            problem: "not-in-log",
            isRepaired: false,
            backups: [],
          });
  }
}

/** Files that are none of a repository's are reported as such, by `findUnknownNames`. */
function isUnknown(name: string, known: ReadonlySet<string>): boolean {
  if (name.startsWith("backups/") && !isManifestFile(name)) return false;
  return !known.has(name.slice(name.indexOf("/") + 1));
}

/** Checkpoints of earlier versions have no orders of backups, which follow from the log. */
function isSameState(found: unknown, expected: StateJson): boolean {
  const text = JSON.stringify(found);
  if (text === JSON.stringify(expected)) return true;
  const earlier = JSON.stringify(expected, (name, value: unknown) =>
    name === "order" || name === "lastOrder" ? undefined : value,
  );
  return text === earlier;
}

/** @throws RepositoryError `damaged` whatever is wrong */
function confirm(
  file: string,
  bytes: Buffer,
  check: (bytes: Buffer) => void,
): void {
  try {
    check(bytes);
  } catch (cause) {
    if (!(cause instanceof RepositoryError)) throw cause;
    throw new RepositoryError("damaged", `${file} is damaged`, { cause });
  }
}

function hasDigest(digest: string): (bytes: Buffer) => void {
  return (bytes) => {
    if (digestOf(bytes) !== digest)
      throw new RepositoryError("damaged", "other bytes than were written");
  };
}
