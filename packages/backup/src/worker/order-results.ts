import type { Anchor } from "../log/repository-log.js";
import type { FolderPage } from "../files/list-folder.js";
import type { FileNode } from "../files/model/file-system.js";
import type { DiskManifest, DiskStatistics } from "../format/manifest.js";
import type { DiskSource } from "../source/disk-source.js";
import type { VmwareVm } from "../vmware/vmware-server.js";
import type { WriteStatistics } from "../write/chunk-writer.js";

/** Every result has the anchor that the caller keeps for its next order. */
export interface OrderResult {
  readonly anchor: Anchor;
}

export interface VmwareListResult {
  readonly vms: readonly VmwareVm[];
}

/** Of an import from another product. */
export interface ImportResult {
  /** Bytes of the XVA, or of the disk. */
  readonly written: number;
}

/** Of the conversion of a disk. */
export interface ConvertResult {
  /** Bytes of the image. */
  readonly written: number;
}

export interface ListedVolume {
  readonly id: string;
  /** Of the partition or logical volume; may be empty. */
  readonly name: string;
  /** Bytes; undefined for logical volumes and for disks without partitions. */
  readonly start: number | undefined;
  readonly size: number;
  /** GUID, or code of MBR in hexadecimal. */
  readonly partitionType: string | undefined;
  /** Of the file system, or the name of what is not supported. */
  readonly content: string | undefined;
  readonly label: string;
  /** Why it cannot be read; undefined: it can. */
  readonly problem: string | undefined;
}

export interface ListVolumesResult extends OrderResult {
  readonly volumes: readonly ListedVolume[];
}

export interface ListFilesResult extends OrderResult, FolderPage {
  /** See FileSystem. */
  readonly wasInUse: boolean | undefined;
}

export interface FindFilesResult extends OrderResult {
  /** In the order of the paths. */
  readonly files: readonly Pick<FileNode, "kind" | "size">[];
}

export interface FetchFilesResult extends OrderResult {
  /** Bytes. */
  readonly written: number;
}

export interface OpenResult extends OrderResult {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly parity: boolean;
  /** Anyone who has it can read the repository. */
  readonly recoveryKey: string;
  /** Names of the passphrases. */
  readonly passphrases: readonly string[];
}

/** Bytes per second. */
export interface BenchmarkResult extends OrderResult {
  readonly writeRate: number;
  readonly readRate: number;
}

export interface CreateResult extends OpenResult {
  /** Holds the recovery key: to be printed, not to be stored beside the repository. */
  readonly recoverySheet: string;
}

export interface BackupOrderResult extends OrderResult {
  readonly id: string;
  readonly statistics: WriteStatistics;
  readonly disks: readonly DiskResult[];
}

export interface SeveralBackupsResult {
  /** In the order of the targets: one that fails does not stop the others. */
  readonly targets: readonly (
    | BackupOrderResult
    | { readonly error: { readonly code: string; readonly message: string } }
  )[];
}

export interface MirrorResult extends OrderResult {
  readonly id: string;
  readonly statistics: WriteStatistics;
  readonly disks: readonly (DiskStatistics & { readonly name: string })[];
  /** Of the repository that was copied from. */
  readonly sourceAnchor: Anchor;
}

export interface RepairResult extends OrderResult {
  /** Files that are again what they were. */
  readonly repaired: readonly string[];
}

/** What one disk cost; `read`, `changed`, `stored`, `compared` in bytes, `mismatches` in blocks. */
export interface DiskResult extends DiskStatistics {
  readonly name: string;
  readonly source: DiskSource["type"];
}

/** Bytes, over all disks of the backup. */
export interface BackupProgress {
  /** What is compared, read or known to be zero. */
  readonly done: number;
  /** `done` at the end; grows if a disk turns out to need a full backup. */
  readonly total: number;
  /** Read from the sources. */
  readonly read: number;
  /** Written to the repository. */
  readonly written: number;
}

export interface ListResult extends OrderResult {
  /** Those that the caller did not know, in the order of the log. */
  readonly backups: readonly ListedBackup[];
  /** Known ids that the repository no longer has. */
  readonly removed: readonly string[];
  /** Backups whose manifest cannot be read now. */
  readonly damaged: readonly string[];
  /** Whether `limit` left some out. */
  readonly more: boolean;
}

export interface BackupDescription {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly disks: readonly Pick<
    DiskManifest,
    "name" | "size" | "properties" | "statistics"
  >[];
  readonly sizes: {
    /** Of all disks. */
    readonly disks: number;
    /** Read from the sources for it; undefined in old backups. */
    readonly read: number | undefined;
    /** Chunks that were stored for it and that the repository did not have before; undefined in old backups. */
    readonly stored: number | undefined;
  };
}

export interface ListedBackup extends BackupDescription {
  /** The place in the repository's log, see `BackupReference`. */
  readonly order: number;
}

export interface RepositoryInspection extends OrderResult {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly parity: boolean;
  /** Names of the passphrases. */
  readonly passphrases: readonly string[];
  readonly backups: number;
  readonly files: number;
  /** Of all files, in bytes. */
  readonly used: number;
  /** Of the file system, in bytes; undefined where the storage has no limit that is known. */
  readonly capacity?: { readonly total: number; readonly free: number };
  /** Why nothing can be written now. */
  readonly readOnly?: string;
}
