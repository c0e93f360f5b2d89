import { collectGarbage } from "../collect/collect-garbage.js";
import {
  readConsole,
  type ConsoleScreenshot,
} from "../console/read-console.js";
import { RepositoryError } from "../errors.js";
import { prepareCompression } from "../format/compression.js";
import { Repository } from "../repository/repository.js";
import { openStorage } from "../storage/open-storage.js";
import { listVmwareVms } from "../vmware/vmware-source.js";
import { verifyRepository } from "../verify/verify-repository.js";
import { inspectRepository } from "./inspect-repository.js";
import { describeBackup, listBackups } from "./list-backups.js";
import {
  checkEmptyFolder,
  credentialsOf,
  describeOpened,
  openRepository,
} from "./open-repository.js";
import type { AskingContext, OrderContext } from "./order-context.js";
import type {
  ConvertResult,
  CreateResult,
  ImportResult,
  OrderResult,
  SeveralBackupsResult,
  VmwareListResult,
} from "./order-results.js";
import { runBackup } from "./run-backup.js";
import { runBackupToSeveral } from "./run-backup-to-several.js";
import { runBenchmark } from "./run-benchmark.js";
import { runRepair } from "./run-repair.js";
import { runExport } from "./run-export.js";
import { fetchFiles, findFiles, listFiles, listVolumes } from "./run-files.js";
import { runConvert } from "./run-convert.js";
import { runImport } from "./run-import.js";
import { runImportImage } from "./run-import-image.js";
import { runMirror } from "./run-mirror.js";
import { runRestore } from "./run-restore.js";
import type {
  BackupToSeveralOperation,
  ConsoleOperation,
  ConvertOperation,
  CreateOperation,
  ImportImageOperation,
  ImportOperation,
  VmwareListOperation,
  WorkOperation,
  WorkOrder,
} from "./work-order.js";

/** Operations that compress or decompress chunks. */
const WITH_CHUNKS: ReadonlySet<WorkOperation["type"]> = new Set([
  "backup",
  "backup-to-several",
  "export",
  "fetch-files",
  "mirror",
  "repair",
  "restore",
]);

/** Other operations that write much or need long; a person waits for the result of all others. */
const LONG: ReadonlySet<WorkOperation["type"]> = new Set([
  "benchmark",
  "collect",
  "verify",
]);
/** Time for one operation in a folder of these, in milliseconds. */
const SHORT_LIMIT_MS = 60_000;

/**
 * Carries out an order.
 * @returns the result of the operation; of one on a repository, with the anchor to keep
 * @throws RepositoryError
 */
export async function runOrder(
  order: WorkOrder,
  context: AskingContext,
): Promise<
  | OrderResult
  | ConsoleScreenshot
  | ConvertResult
  | ImportResult
  | SeveralBackupsResult
  | VmwareListResult
> {
  const { operation } = order;
  if (WITH_CHUNKS.has(operation.type) && !isOfChanges(operation))
    prepareCompression();
  if (operation.type === "backup-to-several")
    return runBackupToSeveral(operation, context);
  if (operation.type === "console")
    return readConsole(operation.console, { signal: context.signal });
  if (operation.type === "vmware-list")
    return { vms: await listVmwareVms(operation.server, context.signal) };
  if (operation.type === "convert") return runConvert(operation, context);
  if (operation.type === "import") return runImport(operation, context);
  if (operation.type === "import-image")
    return runImportImage(operation, context);
  const { storage: location } = order;
  if (location === undefined)
    throw new RepositoryError("invalid", "work order: storage is needed");
  const { type } = operation;
  const isLong = WITH_CHUNKS.has(type) || LONG.has(type);
  const storage = openStorage(location, isLong ? undefined : SHORT_LIMIT_MS);
  if (operation.type === "create") {
    const { passphrase, parity } = operation;
    if (location.type === "folder") await checkEmptyFolder(location.path);
    const created = await Repository.create(storage, { passphrase, parity });
    const result: CreateResult = {
      ...describeOpened(created),
      recoverySheet: created.recoverySheet(),
      anchor: created.log.anchor,
    };
    return result;
  }
  const { anchor } = order;
  const credentials = credentialsOf(order);
  const repository = await openRepository(storage, credentials, anchor);
  const result = await runOperation(repository, operation, context);
  return { ...result, anchor: repository.log.anchor };
}

/** A backup whose size is known once its changed blocks are decoded. */
function isOfChanges(operation: WorkOperation): boolean {
  return (
    operation.type === "backup" &&
    operation.disks.every(({ changedBlocks }) => changedBlocks !== undefined)
  );
}

async function runOperation(
  repository: Repository,
  operation: Exclude<
    WorkOperation,
    | CreateOperation
    | ConsoleOperation
    | ConvertOperation
    | ImportOperation
    | ImportImageOperation
    | BackupToSeveralOperation
    | VmwareListOperation
  >,
  context: OrderContext,
): Promise<object> {
  const { signal, onProgress } = context;
  switch (operation.type) {
    case "backup":
      return runBackup(repository, operation, context);
    case "mirror":
      return runMirror(repository, operation, context);
    case "restore":
      return runRestore(repository, operation, context);
    case "export":
      return runExport(repository, operation, context);
    case "list-volumes":
      return listVolumes(repository, operation);
    case "list-files":
      return listFiles(repository, operation);
    case "find-files":
      return findFiles(repository, operation);
    case "fetch-files":
      return fetchFiles(repository, operation, context);
    case "open":
      return describeOpened(repository);
    case "benchmark":
      return runBenchmark(repository.storage, operation.size);
    case "list":
      return listBackups(repository, operation, signal);
    case "describe":
      return describeBackup(await repository.readManifest(operation.backup));
    case "inspect":
      return inspectRepository(repository, signal);
    case "verify": {
      const { repair, budget, after, first } = operation;
      return verifyRepository(repository, {
        repair,
        ...(budget !== undefined && { budget }),
        ...(after !== undefined && { after }),
        ...(first && { first }),
        signal,
        onProgress: (checked) => onProgress({ checked }),
      });
    }
    case "repair":
      return runRepair(repository, operation, context);
    case "remove":
      await repository.removeBackups(operation.backups);
      return {};
    case "collect": {
      const { graceMs } = operation;
      return collectGarbage(repository, {
        ...(graceMs !== undefined && { graceMs }),
        signal,
      });
    }
    case "add-passphrase":
      await repository.addPassphrase(operation.name, operation.passphrase);
      return {};
    case "remove-passphrase":
      await repository.removePassphrase(operation.name);
      return {};
    case "recovery-sheet":
      return { recoverySheet: repository.recoverySheet() };
  }
}
