import { findNamed, type Named } from "../objects/find-named.js";
import type { Rpc } from "../server/rpc.js";

/** A job that backs up, copies backups or tests them. */
interface BackupJob extends Named {
  readonly type: string;
  readonly [setting: string]: unknown;
}

const TYPES = new Set([
  "backup",
  "metadataBackup",
  "mirrorBackup",
  "restore-test",
]);

/** All jobs that the user may see and that have to do with backups. */
export async function readBackupJobs(rpc: Rpc): Promise<readonly BackupJob[]> {
  const all = (await rpc.call("job.getAll")) as readonly BackupJob[];
  return all.filter(({ type }) => TYPES.has(type));
}

/** @param text id or name @throws RequestError NO_SUCH_OBJECT; CliError USAGE */
export async function findBackupJob(
  rpc: Rpc,
  text: string,
): Promise<BackupJob> {
  return findNamed(await readBackupJobs(rpc), text, "backup job");
}
