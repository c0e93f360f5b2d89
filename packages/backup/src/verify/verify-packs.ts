import { RepositoryError, isMissing } from "../errors.js";
import { isPackFile, isParityFile } from "../format/file-names.js";
import { PACK_SIZE, PARITY_MEMBERS } from "../format/limits.js";
import { PackIndex } from "../format/pack-index.js";
import { packFile } from "../format/pack-layout.js";
import { digestOf } from "../log/repository-log.js";
import {
  listParityGroups,
  protectPacks,
  readParity,
  recoverPack,
} from "../parity/parity-groups.js";
import type { Repository } from "../repository/repository.js";
import { QUARANTINE, isQuarantinedAs } from "../storage/quarantined-file.js";
import { readAgain } from "../storage/read-again.js";
import { listAll, type StoredFile } from "../storage/storage.js";
import type { Finding } from "./finding.js";
import { quarantine } from "./quarantine.js";

/** Of files with other names than those of packs, which may be of any size. Packs are closed at 16 MiB of chunks. */
const MAX_MISNAMED = 2 * PACK_SIZE;

export interface FirstPacks {
  /** Names. */
  readonly packs: ReadonlySet<string>;
  /** The pack after which the check begins. */
  readonly after: string;
  /** Bytes of them that are read at most. */
  readonly budget: number;
}

interface PackCheckOptions {
  readonly repair: boolean;
  /** Bytes of packs that are read at most. */
  readonly budget: number;
  /** The pack after which the check begins, as the last run returned it. */
  readonly after: string;
  /** Packs that are read first, whatever `after` is. */
  readonly first?: FirstPacks | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Reads packs and parity files whole, and repairs them. */
export class PackVerifier {
  readonly findings: Finding[] = [];
  /** Bytes read. */
  checked = 0;
  /** The last pack that was read; empty when the last of all was. */
  next = "";
  /** The same of the packs that are read first. */
  firstNext = "";
  readonly #repository: Repository;
  readonly #options: PackCheckOptions;
  /** Ids of the backups that need a pack, by its name. */
  readonly #needed: ReadonlyMap<string, readonly string[]>;
  /** Files that have the bytes of others: where they are, by the SHA-256 of their bytes. */
  readonly #moved = new Map<string, string>();
  /** Files in quarantine/, listed when a pack is repaired. */
  #quarantined: Promise<StoredFile[]> | undefined;

  constructor(
    repository: Repository,
    needed: ReadonlyMap<string, readonly string[]>,
    options: PackCheckOptions,
  ) {
    this.#repository = repository;
    this.#needed = needed;
    this.#options = options;
  }

  async verify(): Promise<void> {
    const { repair } = this.#options;
    const files = await this.#repository.packs.list();
    const present = new Set(files.map(({ name }) => bareName(name)));
    for (const name of this.#needed.keys())
      if (!present.has(name) && !(await this.#exists(name)))
        this.#report(packFile(name), "missing");
    await this.#readPacks(files);
    const { parity } = this.#repository.config;
    if (parity) await this.#readParityFiles();
    if (repair) {
      await this.#findMisnamed();
      await this.#repairPacks();
    }
    if (parity) await this.#protectPacks();
  }

  /** A pack that is not in the list: that was one answer, or another server has just restored the pack. */
  async #exists(name: string): Promise<boolean> {
    const { storage } = this.#repository;
    return (await storage.size(packFile(name))) !== undefined;
  }

  async #readPacks(files: readonly StoredFile[]): Promise<void> {
    const { after, budget, first } = this.#options;
    const sorted = files.toSorted((a, b) =>
      bareName(a.name) < bareName(b.name) ? -1 : 1,
    );
    const isFirst = ({ name }: StoredFile) =>
      first?.packs.has(bareName(name)) === true;
    if (first !== undefined)
      this.firstNext = await this.#readSome(sorted.filter(isFirst), first);
    const rest = sorted.filter((file) => !isFirst(file));
    this.next = await this.#readSome(rest, { after, budget });
  }

  /** @returns the last pack that was read; empty when the last of all was */
  async #readSome(
    sorted: readonly StoredFile[],
    { after, budget }: { readonly after: string; readonly budget: number },
  ): Promise<string> {
    const { signal, onProgress } = this.#options;
    const rest = sorted.filter(({ name }) => bareName(name) > after);
    let checked = 0;
    for (const [i, { name: file, size }] of rest.entries()) {
      signal?.throwIfAborted();
      await this.#readPack(file);
      checked += size;
      this.checked += size;
      onProgress?.(this.checked);
      if (checked >= budget && i < rest.length - 1) return bareName(file);
    }
    return "";
  }

  async #readPack(file: string): Promise<void> {
    const { storage, key } = this.#repository;
    const name = bareName(file);
    let digest = "";
    try {
      // A transfer may have changed bytes, or another server has repaired the file: both are not damage.
      const bytes = await readAgain(async () => {
        const read = await storage.read(file);
        digest = digestOf(read);
        if (digest === name) return read;
        throw new RepositoryError("damaged", `${file} is damaged`);
      });
      const index = await PackIndex.readFrom(key, name, bytes);
      for (let i = 0; i < index.count; i++)
        await index.open(
          i,
          bytes.subarray(index.offset(i), index.offset(i + 1)),
        );
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      // Garbage collection may have deleted it since it was listed.
      if (isMissing(error) && !this.#needed.has(name)) return;
      this.#report(file, isMissing(error) ? "missing" : "damaged");
      if (!this.#options.repair) return;
      const moved = await quarantine(storage, file);
      if (moved !== undefined) this.#moved.set(digest, moved);
    }
  }

  /** Finds missing packs that have another name: they were moved or renamed. Those files are kept. */
  async #findMisnamed(): Promise<void> {
    const { storage } = this.#repository;
    const missing = new Set(
      this.findings
        .map(({ file }) => file)
        .filter(isPackFile)
        .map(bareName),
    );
    if (missing.size === 0) return;
    for (const { name: file, size } of await listAll(storage, "packs")) {
      if (isPackFile(file) || size > MAX_MISNAMED) continue;
      this.#options.signal?.throwIfAborted();
      try {
        const digest = digestOf(await storage.read(file));
        if (missing.has(digest)) this.#moved.set(digest, file);
      } catch (error) {
        if (!(error instanceof RepositoryError)) throw error;
      }
    }
  }

  /** From a file that has or had the name of another, from parity; else it remains missing, so that no new backup relies on it. */
  async #repairPacks(): Promise<void> {
    const { storage } = this.#repository;
    const groups = await listParityGroups(storage);
    const tried: Finding[] = [];
    for (const finding of this.findings) {
      if (isParity(finding.file)) continue;
      const name = bareName(finding.file);
      const moved = this.#moved.get(name);
      if (moved !== undefined)
        finding.isRepaired = await this.#restore(
          name,
          await storage.read(moved),
        );
      else tried.push(finding);
    }
    for (const finding of tried) {
      const name = bareName(finding.file);
      const bytes =
        (await this.#readQuarantined(name)) ??
        (await recoverPack(storage, name, groups));
      if (bytes === undefined || !(await this.#isStillNeeded(name))) continue;
      finding.isRepaired = await this.#restore(name, bytes);
    }
  }

  /** A file that was called damaged because it was read wrongly, and is read rightly now. */
  async #readQuarantined(name: string): Promise<Buffer | undefined> {
    const { storage } = this.#repository;
    this.#quarantined ??= listAll(storage, QUARANTINE);
    for (const { name: file } of await this.#quarantined) {
      if (!isQuarantinedAs(file, packFile(name))) continue;
      const bytes = await storage.read(file);
      if (digestOf(bytes) === name) return bytes;
    }
    return undefined;
  }

  /** @returns whether the pack exists with these bytes now; another server may have been faster */
  async #restore(name: string, bytes: Buffer): Promise<boolean> {
    const { storage } = this.#repository;
    const file = packFile(name);
    return (
      (await storage.putIfAbsent(file, [bytes])) ||
      (await storage.read(file)).equals(bytes)
    );
  }

  /** A pack whose deletion was logged meanwhile must not be created again. */
  async #isStillNeeded(name: string): Promise<boolean> {
    const { backups, removing } = await this.#repository.log.refresh();
    if (removing.has(packFile(name))) return false;
    const ids = this.#needed.get(name) ?? [];
    return ids.some((id) => backups.has(id));
  }

  async #readParityFiles(): Promise<void> {
    const { storage } = this.#repository;
    for (const { name: file } of await listAll(storage, "parity")) {
      if (!isParityFile(file)) continue;
      try {
        await readAgain(() => readParity(storage, file));
      } catch (error) {
        if (!(error instanceof RepositoryError)) throw error;
        if (isMissing(error)) continue;
        this.#report(file, "damaged");
        if (!this.#options.repair) continue;
        const moved = await quarantine(storage, file);
        if (moved !== undefined)
          this.#moved.set(digestOf(await storage.read(moved)), moved);
      }
    }
  }

  /** Each needed pack has a parity file: those that have none get one. */
  async #protectPacks(): Promise<void> {
    const { storage } = this.#repository;
    const groups = await listParityGroups(storage);
    const isProtected = new Set(
      groups.flatMap(({ members }) => members.map(({ name }) => name)),
    );
    const bare: { name: string; size: number }[] = [];
    for (const { name: file, size } of await this.#repository.packs.list()) {
      const name = bareName(file);
      if (!this.#needed.has(name) || isProtected.has(name)) continue;
      this.#report(file, "unprotected");
      bare.push({ name, size });
    }
    if (!this.#options.repair) return;
    await protectPacks(storage, bare, PARITY_MEMBERS);
    for (const finding of this.findings)
      if (finding.problem === "unprotected" || isParity(finding.file))
        finding.isRepaired = true;
  }

  #report(file: string, problem: Finding["problem"]): void {
    const backups = this.#needed.get(bareName(file)) ?? [];
    this.findings.push({ file, problem, isRepaired: false, backups });
  }
}

function isParity(file: string): boolean {
  return file.startsWith("parity/");
}

function bareName(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1);
}
