export {
  collectGarbage,
  type CollectResult,
} from "./collect/collect-garbage.js";
export type { ConsoleScreenshot } from "./console/read-console.js";
export { RepositoryError, type RepositoryErrorCode } from "./errors.js";
export type { ForeignVm } from "./foreign/foreign-vm.js";
export type { DiskStatistics, Manifest } from "./format/manifest.js";
export type { Anchor } from "./log/repository-log.js";
export type { BackupReference } from "./log/repository-state.js";
export type { NbdServer } from "./nbd/nbd-server.js";
export { FramedStream } from "./net/framed-stream.js";
export type { HttpEndpoint } from "./net/http-endpoint.js";
export type { TlsTrust } from "./net/tls-trust.js";
export { DiskReader } from "./read/disk-reader.js";
export {
  readDisk,
  restoreDifferences,
  restoreToFile,
} from "./read/restore-file.js";
export { Repository } from "./repository/repository.js";
export { changedRanges, encodeChangedBlocks } from "./source/changed-blocks.js";
export type { ChangedBlocks, DiskSource } from "./source/disk-source.js";
export { openSources, type SourceDisk } from "./source/open-sources.js";
export { FolderStorage } from "./storage/folder-storage.js";
export { S3Storage } from "./storage/s3-storage.js";
export type { StorageLocation } from "./storage/storage-location.js";
export type { Storage, StoredFile } from "./storage/storage.js";
export type { VmwareServer, VmwareVm } from "./vmware/vmware-server.js";
export type { ForeignPlan } from "./target/foreign-image.js";
export type { RestoreTarget } from "./target/restore-target.js";
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
export { WorkerStarter } from "./worker/worker-starter.js";
export {
  WorkerError,
  startWorker,
  type StartWorkerOptions,
  type Worker,
} from "./worker/start-worker.js";
export type {
  BackupDescription,
  ListedBackup,
  BackupOrderResult,
  BackupProgress,
  BenchmarkResult,
  CreateResult,
  DiskResult,
  FindFilesResult,
  ListFilesResult,
  ListVolumesResult,
  ListResult,
  RepairResult,
  MirrorResult,
  OpenResult,
  RepositoryInspection,
  SeveralBackupsResult,
  VmwareListResult,
} from "./worker/order-results.js";
export type {
  BackupDisk,
  BackupOperation,
  BackupToSeveralOperation,
  ConvertOperation,
  ExportOperation,
  FetchFilesOperation,
  ImportImageOperation,
  ImportOperation,
  ListOperation,
  RepairOperation,
  MirrorOperation,
  RepositoryAccess,
  RestoreOperation,
  SignedWorkOrder,
  VerifyOperation,
  VmwareListOperation,
  WorkOperation,
  WorkOrder,
} from "./worker/work-order.js";
