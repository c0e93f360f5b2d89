import type { BackupDescription, RestoreTarget } from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import { withStreamTask } from "../../transfers/xapi-streams.js";
import type { Repositories } from "../repositories/repositories.js";
import { diskDownload, openDownload } from "../restore/open-download.js";
import { CONFIGURATION } from "./configuration-source.js";
import { DATABASE_FILE, DATABASE_PATH } from "./pool-source.js";

/** A backup in a repository. */
interface MetadataBackup {
  readonly repository: string;
  readonly backup: string;
}

interface DatabaseRestore extends MetadataBackup {
  /** Whether XAPI only checks that the database can be restored. */
  readonly dryRun: boolean;
}

/**
 * Restores the database of a pool (XAPI `PUT /pool/xmldbdump`): XAPI checks it
 * first (`dry_run`), then replaces its database and restarts the coordinator's toolstack.
 * @throws XapiError of the check, or of the restore; XoError BACKUP_*, ABORTED
 */
export async function restoreDatabase(
  xapi: Xapi,
  repositories: Pick<Repositories, "run">,
  { dryRun, ...source }: DatabaseRestore,
  work: TaskContext,
): Promise<void> {
  const send = (name: string, query: Readonly<Record<string, string>>) =>
    work.part(name, (part) =>
      sendDatabase(xapi, repositories, { ...source, query }, part),
    );
  await send("check by the pool", { dry_run: "true" });
  if (!dryRun) await send("restore", {});
}

async function sendDatabase(
  xapi: Xapi,
  repositories: Pick<Repositories, "run">,
  {
    repository,
    backup,
    query,
  }: MetadataBackup & { readonly query: Readonly<Record<string, string>> },
  work: TaskContext,
): Promise<void> {
  const { signal } = work;
  await withStreamTask(
    xapi,
    "Restore of the database of the pool",
    { signal, progress: () => undefined },
    async (task) => {
      const { tls, ...endpoint } = await xapi.streamTarget({
        path: DATABASE_PATH,
        query,
        task,
      });
      const target: RestoreTarget = {
        type: "upload",
        format: "raw",
        ...endpoint,
        ...(tls === undefined
          ? {}
          : { tls: { certificates: tls.certificate } }),
      };
      await repositories.run(
        repository,
        { type: "restore", backup, disk: DATABASE_FILE, target },
        { signal },
      );
    },
  );
}

/**
 * Replaces the configuration of this server by that of a backup.
 * @throws XoError IMPORT_INVALID, BACKUP_*, ABORTED
 */
export async function restoreConfiguration(
  store: Pick<Store, "importConfiguration">,
  repositories: Pick<Repositories, "run">,
  { repository, backup }: MetadataBackup,
  work: TaskContext,
): Promise<void> {
  const { properties } = await repositories.run<BackupDescription>(
    repository,
    { type: "describe", backup },
    { signal: work.signal },
  );
  const { passphrase } = (properties["secrets"] ?? {}) as {
    readonly passphrase?: unknown;
  };
  if (typeof passphrase !== "string")
    throw new XoError("IMPORT_INVALID", {
      reason: "the backup has no passphrase of the configuration",
    });
  const { body, finished } = await openDownload(
    repositories,
    diskDownload({ repository, backup, disk: CONFIGURATION, format: "raw" }),
    work,
  );
  await store.importConfiguration(body, passphrase);
  await finished?.();
}
