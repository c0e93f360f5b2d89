import { RequestError, usageError } from "../cli-error.js";
import type { Rpc } from "../server/rpc.js";
import { readRepositories } from "./repository.js";

/** A backup of a VM, as `backupArchive.getAll` returns it. */
export interface Archive {
  readonly id: string;
  readonly backupRepository: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** `delta` or `full`. */
  readonly mode: string;
  readonly vm?: { readonly uuid?: string; readonly name_label?: string };
  readonly disks: readonly {
    /** That of the backup, a slash, and its name in the backup. */
    readonly id: string;
    readonly name: string;
    /** Bytes. */
    readonly size: number;
  }[];
  /** Total size of the disks, in bytes. */
  readonly size: number;
  /** Bytes that only this backup needed when it was written. */
  readonly stored?: number;
  readonly verification: string;
}

/** Errors of repositories from which backups can be restored. */
const READABLE = new Set([
  "BACKUP_REPOSITORY_READ_ONLY",
  "BACKUP_REPOSITORY_FULL",
]);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Backups, newest first. @param vm UUID or name; undefined: of all VMs */
export async function readArchives(
  rpc: Rpc,
  {
    vm,
    repository,
  }: { readonly vm?: string | undefined; readonly repository?: string },
): Promise<readonly Archive[]> {
  const isUuid = vm !== undefined && UUID.test(vm);
  const all = (await rpc.call("backupArchive.getAll", {
    ...(isUuid ? { vm } : {}),
    ...(repository === undefined ? {} : { "backup-repository": repository }),
  })) as readonly Archive[];
  return vm === undefined || isUuid
    ? all
    : all.filter((archive) => archive.vm?.name_label === vm);
}

/**
 * A backup by its id, or the newest of a VM that is not damaged, by the UUID or name of the VM: in a repository that
 * can be read, if there is one.
 * @throws RequestError NO_SUCH_OBJECT
 * @throws CliError USAGE: several VMs have the name
 */
export async function findArchive(rpc: Rpc, text: string): Promise<Archive> {
  if (text.includes("/"))
    return (await rpc.call("backupArchive.get", { id: text })) as Archive;
  const archives = await readArchives(rpc, { vm: text });
  const vms = new Set(archives.map(({ vm }) => vm?.uuid));
  if (vms.size > 1)
    throw usageError(
      `there are backups of ${vms.size} VMs named ${JSON.stringify(text)}`,
      `use one of the UUIDs: ${[...vms].slice(0, 10).join(", ")}`,
    );
  const whole = archives.filter(
    ({ verification }) => verification !== "damaged",
  );
  const newest = whole[0];
  if (newest !== undefined) {
    const unusable = await unusableRepositories(rpc);
    return whole.find((one) => !unusable.has(one.backupRepository)) ?? newest;
  }
  const reason =
    archives.length === 0
      ? `no backup of a VM ${text}`
      : `all ${archives.length} backups of ${text} are damaged`;
  const data = { id: text, type: "backup" };
  const hint = "see xo-cli backup list";
  throw new RequestError(reason, "NO_SUCH_OBJECT", data, hint);
}

/** Ids of repositories that are disabled, or of which nothing can be read. */
async function unusableRepositories(rpc: Rpc): Promise<ReadonlySet<string>> {
  const repositories = await readRepositories(rpc);
  return new Set(
    repositories
      .filter(
        ({ enabled, error }) =>
          !enabled || (error !== undefined && !READABLE.has(error.code)),
      )
      .map(({ id }) => id),
  );
}
