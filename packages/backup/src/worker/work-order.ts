import { sign, verify, type KeyObject } from "node:crypto";
import { RepositoryError } from "../errors.js";
import type { Anchor } from "../log/repository-log.js";
import type { HttpEndpoint } from "../net/http-endpoint.js";
import type {
  ChangedBlocks,
  DiskSource,
  StreamSource,
} from "../source/disk-source.js";
import type { StorageLocation } from "../storage/storage-location.js";
import type { VerifyOptions } from "../verify/verify-repository.js";
import type { VmwareServer } from "../vmware/vmware-server.js";
import type { RestoreTarget } from "../target/restore-target.js";

/** What a worker does. Sizes and offsets in bytes, times in milliseconds. */
export type WorkOperation =
  | CreateOperation
  | BackupOperation
  | BackupToSeveralOperation
  | MirrorOperation
  | RestoreOperation
  | ExportOperation
  | ImportOperation
  | ImportImageOperation
  | ConvertOperation
  | ListVolumesOperation
  | ListFilesOperation
  | FindFilesOperation
  | FetchFilesOperation
  | OpenOperation
  | BenchmarkOperation
  | ListOperation
  | VmwareListOperation
  | DescribeOperation
  | InspectOperation
  | VerifyOperation
  | RepairOperation
  | RemoveOperation
  | CollectOperation
  | AddPassphraseOperation
  | RemovePassphraseOperation
  | RecoverySheetOperation
  | ConsoleOperation;

/** Creates a repository in an empty storage. Result: `CreateResult`. */
export interface CreateOperation {
  readonly type: "create";
  readonly passphrase: string;
  readonly parity: boolean;
}

/** Writes a backup. Result: `BackupOrderResult`; progress: `BackupProgress`. */
export interface BackupOperation {
  readonly type: "backup";
  /** Stored in the manifest as they are. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Id of the backup that `changedBlocks` and `delta` refer to. */
  readonly base?: string;
  /** See BackupInput. */
  readonly key?: string;
  readonly disks: readonly BackupDisk[];
  /** Read from all sources together; undefined: no limit. */
  readonly maxBytesPerSecond?: number;
}

/**
 * Writes a backup to several repositories, and reads its disks once. Needs no
 * repository of the order. Result: `SeveralBackupsResult`; progress: `BackupProgress`,
 * `done`, `total` and `written` of all repositories together.
 */
export interface BackupToSeveralOperation extends Omit<
  BackupOperation,
  "type" | "base"
> {
  readonly type: "backup-to-several";
  /** With the backup of each that `changedBlocks` and `delta` refer to: all of the same state. */
  readonly targets: readonly {
    readonly repository: RepositoryAccess;
    readonly base?: string;
  }[];
}

export interface BackupDisk {
  /** Unique in this backup, and the same as in the base. */
  readonly name: string;
  /** Bytes; the source must have this size. Undefined only for images, and for raw streams with `maxSize`. */
  readonly size?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly source: DiskSource;
  /** What changed since the base: only that is read, from an image or by NBD. */
  readonly changedBlocks?: ChangedBlocks;
  /** Whether a VHD stream has only what changed since the base. */
  readonly delta?: true;
  /** Share of the blocks without changes that are compared with the base, 0 to 1; default 0.01. */
  readonly compareSample?: number;
  /** Limits it to this number of bytes for each changed byte, but 16 blocks at least, or parts of them; default 0.08, and no limit if `compareSample` is set. */
  readonly comparePerChanged?: number;
}

/**
 * Copies a backup of another repository into that of the order. Result: `MirrorResult`;
 * progress: `BackupProgress`.
 */
export interface MirrorOperation {
  readonly type: "mirror";
  /** The repository that is read. */
  readonly source: RepositoryAccess;
  /** Id of the backup in it. */
  readonly backup: string;
  /** An earlier backup of the source, and its copy in the repository of the order: only what differs is read. */
  readonly base?: { readonly backup: string; readonly copy: string };
  /** Added to the properties of the copy. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** See BackupInput. */
  readonly key?: string;
  /** Read from the source; undefined: no limit. */
  readonly maxBytesPerSecond?: number;
}

/** Restores one disk. Result and progress: `RestoreProgress`. */
export interface RestoreOperation {
  readonly type: "restore";
  readonly backup: string;
  readonly disk: string;
  readonly target: RestoreTarget;
}

/**
 * Writes disks of a backup to `Worker.output` as an XVA. Result and progress: `RestoreProgress`;
 * `total`, its size in bytes, is reported before its first byte.
 */
export interface ExportOperation {
  readonly type: "export";
  readonly backup: string;
  /** The text of ova.xml. */
  readonly ova: string;
  readonly disks: readonly {
    /** Its name in the backup. */
    readonly name: string;
    /** Its id in ova.xml. */
    readonly folder: string;
  }[];
}

/**
 * Writes a VM of another product to `Worker.output` as an XVA. Needs no repository.
 * Asks with a `ForeignVm`, and needs a `ForeignPlan` as its answer. Result: `ImportResult`.
 */
export interface ImportOperation {
  readonly type: "import";
  /** An OVA is read from `Worker.input`. */
  readonly source:
    | { readonly type: "ova" }
    | {
        readonly type: "vmware";
        readonly server: VmwareServer;
        /** Managed object id. */
        readonly vm: string;
        /** Whether a VM that runs is stopped before its disks are read. */
        readonly stop: boolean;
      };
}

/**
 * Reads a disk image (qcow2, VMDK, VHDX) from `Worker.input` into a temporary file, and writes its disk to
 * `Worker.output`. Needs no repository. Result: `ImportResult`; `total`, the size in bytes, is
 * reported before its first byte.
 */
export interface ImportImageOperation {
  readonly type: "import-image";
  /** For the temporary file. */
  readonly folder: string;
  /** Of the output; a VHD has no blocks without data. */
  readonly format: "raw" | "vhd";
}

/**
 * Reads a disk of a pool as VHD, and writes it to `Worker.output` in another format. Needs no
 * repository. Result: `ConvertResult`; `total`, its size in bytes or 0 if it is not known, is
 * reported before its first byte.
 */
export interface ConvertOperation {
  readonly type: "convert";
  readonly source: StreamSource;
  /** Bytes of the disk. */
  readonly size: number;
  readonly format: "qcow2" | "vmdk";
}

/** A disk of a backup. */
interface DiskOfBackup {
  readonly backup: string;
  readonly disk: string;
}

/** A file system on a disk of a backup. */
interface VolumeOfBackup extends DiskOfBackup {
  /** Id of a `ListedVolume`; undefined: the only one. */
  readonly volume?: string;
}

/** Lists the partitions and logical volumes of a disk. Result: `ListVolumesResult`. */
export interface ListVolumesOperation extends DiskOfBackup {
  readonly type: "list-volumes";
}

/** Lists a folder in the order of names. Result: `ListFilesResult`. */
export interface ListFilesOperation extends VolumeOfBackup {
  readonly type: "list-files";
  readonly path: string;
  /** Name of the last entry that the caller has. */
  readonly after?: string;
  /** Entries of the result at most. */
  readonly limit: number;
}

/** Checks that files exist. Result: `FindFilesResult`. */
export interface FindFilesOperation extends VolumeOfBackup {
  readonly type: "find-files";
  readonly paths: readonly string[];
}

/**
 * Writes files to `Worker.output`. Result: `FetchFilesResult`; `total`, the size in bytes or 0 if
 * it is not known, is reported before the first byte.
 */
export interface FetchFilesOperation extends VolumeOfBackup {
  readonly type: "fetch-files";
  /** Of the format `file`: one regular file. */
  readonly paths: readonly string[];
  readonly format: "file" | "zip" | "tgz";
}

/** Lists the VMs of an ESXi host or vCenter server. Needs no repository. Result: `VmwareListResult`. */
export interface VmwareListOperation {
  readonly type: "vmware-list";
  readonly server: VmwareServer;
}

/** Checks that the repository can be opened. Result: `OpenResult`. */
interface OpenOperation {
  readonly type: "open";
}

/** Writes, reads and removes a file. Result: `BenchmarkResult`. */
interface BenchmarkOperation {
  readonly type: "benchmark";
  /** Bytes. */
  readonly size: number;
}

/** Reads the manifests that the caller does not know yet. Result: `ListResult`. */
export interface ListOperation {
  readonly type: "list";
  /** Ids of backups that the caller has. */
  readonly known: readonly string[];
  /** Backups in the result at most; default 500. */
  readonly limit?: number;
  /** Properties that are left out, for example large ones. */
  readonly omit?: readonly string[];
}

/** Reads one manifest. Result: `BackupDescription`. */
interface DescribeOperation {
  readonly type: "describe";
  readonly backup: string;
}

/** Reads what the storage holds. Result: `RepositoryInspection`. */
interface InspectOperation {
  readonly type: "inspect";
}

/** Compares packs with what was written. Result: `VerifyResult`; progress: `checked`. */
export interface VerifyOperation {
  readonly type: "verify";
  readonly repair: boolean;
  /** Bytes of packs at most. */
  readonly budget?: number;
  /** `next` of the last run. */
  readonly after?: string;
  /** See VerifyOptions. */
  readonly first?: NonNullable<VerifyOptions["first"]>;
}

/** Restores damaged packs from copies in another repository. Result: `RepairResult`. */
export interface RepairOperation {
  readonly type: "repair";
  /** Names of packs that verification could not repair. */
  readonly packs: readonly string[];
  /** The repository that has copies. */
  readonly source: RepositoryAccess;
  /** Ids of its copies, by the id of the backup. */
  readonly copies: Readonly<Record<string, string>>;
}

interface RemoveOperation {
  readonly type: "remove";
  readonly backups: readonly string[];
}

/** Garbage collection. Result: `CollectResult`. */
interface CollectOperation {
  readonly type: "collect";
  readonly graceMs?: number;
}

interface AddPassphraseOperation {
  readonly type: "add-passphrase";
  readonly name: string;
  readonly passphrase: string;
}

interface RemovePassphraseOperation {
  readonly type: "remove-passphrase";
  readonly name: string;
}

/** Result: `{ recoverySheet }`. */
interface RecoverySheetOperation {
  readonly type: "recovery-sheet";
}

/** Takes a screenshot of a console over RFB; needs no repository. Result: `ConsoleScreenshot`. */
export interface ConsoleOperation {
  readonly type: "console";
  /** Answers CONNECT, as XAPI's `/console`. */
  readonly console: HttpEndpoint;
}

/** A repository, and what opens it: one of both secrets. */
export interface RepositoryAccess {
  readonly storage: StorageLocation;
  readonly passphrase?: string;
  readonly recoveryKey?: string;
  /** The last state that the caller has seen. */
  readonly anchor?: Anchor;
}

/** The repository of an order is opened first, but for `create`, `console`, `convert`, `import`, `vmware-list` and `backup-to-several`. */
export interface WorkOrder extends Partial<RepositoryAccess> {
  readonly version: 1;
  /** ISO 8601: a worker refuses it afterwards. */
  readonly expires: string;
  readonly operation: WorkOperation;
}

/** An order as it is sent: the signature is over exactly this text. */
export interface SignedWorkOrder {
  /** JSON of the order. */
  readonly order: string;
  /** Ed25519, base64. */
  readonly signature: string;
}

/** @param key an Ed25519 private key */
export function signWorkOrder(
  order: WorkOrder,
  key: KeyObject,
): SignedWorkOrder {
  const text = JSON.stringify(order);
  const signature = sign(null, Buffer.from(text), key).toString("base64");
  return { order: text, signature };
}

/**
 * @param signed what was received, of any shape
 * @param options.key the Ed25519 public key of who may give orders
 * @param options.now milliseconds since the epoch
 * @throws RepositoryError `invalid` if it is not signed by this key, or too old
 */
export function openWorkOrder(
  signed: unknown,
  { key, now }: { key: KeyObject; now: number },
): WorkOrder {
  const { order, signature } = (signed ?? {}) as Partial<SignedWorkOrder>;
  if (
    typeof order !== "string" ||
    typeof signature !== "string" ||
    !verify(null, Buffer.from(order), key, Buffer.from(signature, "base64"))
  )
    throw new RepositoryError("invalid", "work order: wrong signature");
  const parsed = JSON.parse(order) as WorkOrder;
  if (parsed.version !== 1)
    throw new RepositoryError(
      "unsupported",
      `work order: version ${String(parsed.version)} is not supported, only 1`,
    );
  if (!(Date.parse(parsed.expires) > now))
    throw new RepositoryError(
      "invalid",
      `work order: it has expired at ${parsed.expires}`,
    );
  return parsed;
}
