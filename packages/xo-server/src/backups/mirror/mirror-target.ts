import type { TaskContext } from "../../tasks/task-context.js";
import { toLoggedError } from "../report/backup-log.js";
import type { ItemRepositoryEntry } from "../report/item-log.js";
import type { Deletions } from "../run/deletions.js";
import {
  chooseBase,
  chooseExpired,
  chooseMissing,
  type CopyRules,
} from "./choose-copies.js";
import type { MirrorKindParts } from "./mirror-parts.js";
import {
  groupCopies,
  keyOf,
  type Copy,
  type MirroredItem,
  type MirrorProperty,
  type SourceBackup,
} from "./mirror-index.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

interface MirrorTargetOptions {
  /** Id of the target. */
  readonly id: string;
  /** Id of the source repository. */
  readonly source: string;
  readonly job: string;
  /** Id of the run. */
  readonly run: string;
  /** Bytes per second. */
  readonly maxRate: number | undefined;
}

/** What a run applies to each item. */
interface ItemRules {
  readonly rules: CopyRules;
  readonly deletions: Deletions;
}

interface CopyOptions {
  readonly copies: readonly Copy[];
  readonly work: TaskContext;
  readonly onProgress: (fraction: number) => void;
}

/** A repository that a mirror job copies into. */
export class MirrorTarget {
  readonly #parts: MirrorKindParts;
  readonly #options: MirrorTargetOptions;
  #copies = new Map<string, readonly Copy[]>();
  #name: string;
  /** Why the target cannot be used. */
  #problem: Error | undefined;

  constructor(parts: MirrorKindParts, options: MirrorTargetOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#name = options.id;
  }

  get id(): string {
    return this.#options.id;
  }

  /** Name of the target, or its id if it was removed. */
  get name(): string {
    return this.#name;
  }

  /**
   * Reads the existing copies. If that fails, each `copy` fails.
   * @param isResumed whether something may have been copied before the server
   * stopped
   */
  async open(isResumed: boolean): Promise<void> {
    const { archives, index, repositories } = this.#parts;
    try {
      this.#name = repositories.get(this.id).name;
      await archives.refresh(this.id, isResumed);
      const { source, job } = this.#options;
      const { repository = source } = repositories.get(source).state;
      const list = index.list({ repository: this.id });
      this.#copies = new Map(await groupCopies(list, { job, repository }));
    } catch (error) {
      this.#problem = error as Error;
    }
  }

  copiesOf(key: string): readonly Copy[] {
    return this.#copies.get(key) ?? [];
  }

  /** Copies missing backups, and deletes copies that the retention does not keep. Never rejects. */
  async copy(
    item: MirroredItem,
    { rules, deletions }: ItemRules,
    work: TaskContext,
  ): Promise<ItemRepositoryEntry> {
    const { clock } = this.#parts;
    const start = clock.now();
    const about = { repository: this.id, name: this.name, start };
    try {
      if (this.#problem !== undefined) throw this.#problem;
      await this.#copyMissing(item, rules, work);
      // Lists must contain the copies when the run has ended.
      if (this.#totalsOf(item).copied > 0)
        await this.#parts.archives.refresh(this.id);
      const totals = this.#totalsOf(item);
      const deleted = await this.#deleteExpired(item, rules, deletions);
      const end = clock.now();
      const more = deleted.length === 0 ? {} : { deleted };
      return { ...about, status: "success", end, ...totals, ...more };
    } catch (error) {
      const end = clock.now();
      const logged = toLoggedError(error);
      const totals = this.#totalsOf(item);
      return { ...about, status: "failure", end, ...totals, error: logged };
    }
  }

  /** What this run has copied of an item, also before the server was restarted. Sizes in bytes. */
  #totalsOf(
    item: MirroredItem,
  ): Required<Pick<ItemRepositoryEntry, "copied" | "read" | "stored">> {
    const own = this.copiesOf(keyOf(item)).filter(
      ({ run }) => run === this.#options.run,
    );
    const sum = (figure: "read" | "stored") =>
      own.reduce((total, copy) => total + copy[figure], 0);
    return { copied: own.length, read: sum("read"), stored: sum("stored") };
  }

  async #copyMissing(
    item: MirroredItem,
    rules: CopyRules,
    work: TaskContext,
  ): Promise<void> {
    const key = keyOf(item);
    const missing = chooseMissing(item.backups, this.copiesOf(key), rules);
    for (const [i, backup] of missing.entries()) {
      work.signal.throwIfAborted();
      const copies = this.copiesOf(key);
      const copy = await this.#copyIfStored(item, backup, {
        copies,
        work,
        onProgress: (fraction) => {
          work.progress((i + fraction) / missing.length);
        },
      });
      if (copy !== undefined) this.#copies.set(key, [...copies, copy]);
    }
  }

  /** @returns undefined: the backup was deleted in the source meanwhile, for example by its retention */
  async #copyIfStored(
    item: MirroredItem,
    backup: SourceBackup,
    how: CopyOptions,
  ): Promise<Copy | undefined> {
    try {
      return await this.#copyOne(item, backup, how);
    } catch (error) {
      how.work.signal.throwIfAborted();
      const stored = await this.#storedInSource();
      if (!stored.has(backup.backup)) return undefined;
      const backups = item.backups.filter((one) => stored.has(one.backup));
      if (backups.length === item.backups.length) throw error;
      // The one that it was compared with was deleted.
      return this.#copyOne({ ...item, backups }, backup, how);
    }
  }

  /** Ids of the backups in the source. */
  async #storedInSource(): Promise<ReadonlySet<string>> {
    const { archives, index } = this.#parts;
    const repository = this.#options.source;
    await archives.refresh(repository, true);
    const stored = new Set<string>();
    for await (const page of index.list({ repository }))
      for (const { backup } of page) stored.add(backup);
    return stored;
  }

  async #copyOne(
    { backups }: MirroredItem,
    { backup, time, order }: SourceBackup,
    { copies, work, onProgress }: CopyOptions,
  ): Promise<Copy> {
    const { repositories } = this.#parts;
    const { id, source, job, run, maxRate } = this.#options;
    const base = chooseBase(order, backups, copies);
    const { repository = source } = repositories.get(source).state;
    const mirror: MirrorProperty = { job, repository, backup, order, run };
    const copied = await repositories.mirror(
      id,
      {
        source,
        backup,
        properties: { mirror },
        key: `copy by ${job} of ${backup} in ${repository}`,
        ...(base === undefined
          ? {}
          : { base: { backup: base.of, copy: base.backup } }),
        ...(maxRate === undefined ? {} : { maxBytesPerSecond: maxRate }),
      },
      {
        signal: ownedSignal(work),
        onProgress: ({ done = 0, total = 0 }) =>
          onProgress(total === 0 ? 0 : Math.min(1, done / total)),
      },
    );
    const sum = (figure: "read" | "stored") =>
      copied.disks.reduce((total, disk) => total + disk[figure], 0);
    const sizes = { read: sum("read"), stored: sum("stored") };
    return { of: backup, backup: copied.id, time, order, run, ...sizes };
  }

  /** @returns ids of this process and of earlier ones of the run */
  #deleteExpired(
    item: MirroredItem,
    rules: CopyRules,
    deletions: Deletions,
  ): Promise<readonly string[]> {
    const key = keyOf(item);
    const expired = chooseExpired(this.copiesOf(key), rules);
    return deletions.delete(this.id, expired, async (ids) => {
      await this.#parts.archives.remove(this.id, ids);
      const left = this.copiesOf(key).filter(
        ({ backup }) => !ids.includes(backup),
      );
      this.#copies.set(key, left);
    });
  }
}
