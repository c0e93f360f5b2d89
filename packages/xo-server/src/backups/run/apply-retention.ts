import { toDelete, type Retention } from "../../jobs/retention.js";
import type { ArchiveAccess, StoredBackup } from "./repository-access.js";

interface RetentionRequest {
  readonly job: string;
  /** Only backups of this schedule; undefined: of the job. */
  readonly schedule: string | undefined;
  /** UUID. */
  readonly vm: string;
  readonly repository: string;
  /** The backup that was just stored, which is never deleted. */
  readonly newest: string;
  readonly rules: Retention;
  readonly timezone: string | undefined;
}

/**
 * Backups of one VM or item that no rule keeps.
 * @returns ids in the repository
 */
export function expired(
  backups: readonly StoredBackup[],
  request: Omit<RetentionRequest, "vm">,
): string[] {
  const { job, schedule, repository, newest, rules, timezone } = request;
  const own = backups.filter(
    (one) =>
      one.repository === repository &&
      one.job === job &&
      (schedule === undefined || one.schedule === schedule),
  );
  const dated = own.map(({ backup: id, time, order }) => ({ id, time, order }));
  return toDelete(dated, rules, timezone)
    .map(({ id }) => id)
    .filter((id) => id !== newest);
}

/**
 * Deletes backups that no rule keeps, without moving data.
 * @param onBegin called before with what is deleted
 * @returns ids in the repository
 * @throws XoError
 */
export async function applyRetention(
  archives: ArchiveAccess,
  request: RetentionRequest,
  onBegin: (ids: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const { repository, vm } = request;
  await archives.refresh(repository);
  const backups = expired(await archives.ofVm(vm), request);
  if (backups.length === 0) return backups;
  await onBegin(backups);
  await archives.remove(repository, backups);
  return backups;
}
