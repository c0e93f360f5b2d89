import { itemOf, takenAt, type Archive } from "../archives/archive.js";

/**
 * A backup of the database of a pool, or of the configuration, in the form of Xen
 * Orchestra's API.
 */
export interface ContractMetadataBackup {
  readonly id: string;
  readonly type: "pool" | "xo";
  readonly backupRepository: string;
  readonly jobId?: string;
  readonly jobName?: string;
  readonly scheduleId?: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Bytes. */
  readonly size: number;
  readonly pool?: object;
  readonly poolMaster?: object;
}

/** @returns undefined: the backup is of something else */
export function toContractMetadataBackup(
  archive: Archive,
): ContractMetadataBackup | undefined {
  const item = itemOf(archive);
  if (item === undefined) return undefined;
  const { id, repository, properties, sizes } = archive;
  const { job, jobName, schedule, pool, poolMaster } = properties;
  const optional = (name: string, value: unknown) =>
    value === undefined ? {} : { [name]: value };
  return {
    id,
    type: item.type === "pool" ? "pool" : "xo",
    backupRepository: repository,
    timestamp: takenAt(archive),
    size: sizes.disks,
    ...optional("jobId", job),
    ...optional("jobName", jobName),
    ...optional("scheduleId", schedule),
    ...optional("pool", pool),
    ...optional("poolMaster", poolMaster),
  };
}
