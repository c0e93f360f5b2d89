export {
  collectGarbage,
  type CollectResult,
} from "./collect/collect-garbage.js";
export { RepositoryError, type RepositoryErrorCode } from "./errors.js";
export type { Manifest } from "./format/manifest.js";
export type { Anchor } from "./log/repository-log.js";
export type { BackupReference } from "./log/repository-state.js";
export { DiskReader } from "./read/disk-reader.js";
export {
  readDisk,
  restoreDifferences,
  restoreToFile,
} from "./read/restore-file.js";
export { Repository } from "./repository/repository.js";
export { FolderStorage } from "./storage/folder-storage.js";
export type { Storage, StoredFile } from "./storage/storage.js";
export type { Finding } from "./verify/finding.js";
export {
  verifyRepository,
  type VerifyResult,
} from "./verify/verify-repository.js";
export { RawImage, type BlockSource } from "./write/block-source.js";
export {
  writeBackup,
  type BackupInput,
  type BackupResult,
} from "./write/write-backup.js";
export {
  WorkerError,
  startWorker,
  type StartWorkerOptions,
  type Worker,
} from "./worker/start-worker.js";
export type {
  SignedWorkOrder,
  WorkOperation,
  WorkOrder,
} from "./worker/work-order.js";
