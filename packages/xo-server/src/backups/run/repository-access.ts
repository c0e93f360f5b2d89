import type {
  BackupOperation,
  BackupOrderResult,
  BackupToSeveralOperation,
} from "@xo-server/backup";
import type { ItemLogEntry } from "../report/item-log.js";

/** The part of a repository that a run uses. */
interface TargetRepository {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
}

interface WorkerOptions {
  readonly signal?: AbortSignal;
  /** Figures of the operation, at most twice a second. */
  readonly onProgress?: (figures: Readonly<Record<string, number>>) => void;
}

/** Repositories and their workers. */
export interface RepositoryAccess {
  /** @throws XoError NO_SUCH_OBJECT */
  get(id: string): TargetRepository;
  /** @throws XoError */
  run(
    id: string,
    order: BackupOperation,
    options: WorkerOptions,
  ): Promise<BackupOrderResult>;
  /**
   * The disks are read once for all targets.
   * @returns in the order of the targets: what was stored, or why not
   * @throws XoError for all
   */
  backUpToSeveral(
    targets: readonly { readonly id: string; readonly base?: string }[],
    order: Omit<BackupToSeveralOperation, "type" | "targets">,
    options: WorkerOptions,
  ): Promise<(BackupOrderResult | Error)[]>;
}

/** A backup in a repository. */
export interface StoredBackup {
  /** `<repository>/<backup>` */
  readonly id: string;
  readonly repository: string;
  readonly backup: string;
  readonly job: string;
  readonly schedule: string | undefined;
  readonly run: string;
  /** ms since the epoch. */
  readonly time: number;
  /** The greater, the newer, whatever clocks show. */
  readonly order: number;
}

/** The backups in the repositories. */
export interface ArchiveAccess {
  /** Known backups of a VM in all repositories. @param vm its uuid */
  ofVm(vm: string): Promise<readonly StoredBackup[]>;
  /** Backups of a pool, or of the configuration, in one repository. */
  ofItem(
    repository: string,
    item: Pick<ItemLogEntry, "type" | "id">,
  ): Promise<readonly StoredBackup[]>;
  /**
   * Reads new entries of a repository's log.
   * @param isAfterCrash whether backups may have been stored that this server does
   * not know
   * @throws XoError
   */
  refresh(repository: string, isAfterCrash?: boolean): Promise<void>;
  /**
   * Deletes backups of one repository, without moving data.
   * @throws XoError
   */
  remove(repository: string, backups: readonly string[]): Promise<void>;
}
