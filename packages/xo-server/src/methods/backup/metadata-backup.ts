import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  itemOf,
  type Archive,
  type ArchivedItem,
} from "../../backups/archives/archive.js";
import {
  restoreConfiguration,
  restoreDatabase,
} from "../../backups/metadata/restore-metadata.js";
import {
  toContractMetadataBackup,
  type ContractMetadataBackup,
} from "../../backups/report/contract-metadata-backup.js";
import { asTask } from "../definition/as-task.js";
import { archiveId } from "./backup-archive.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { REPOSITORY_TYPE } from "./find-repository.js";
import { actionRoute, deleteRoute } from "../definition/on-object.js";

const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;
const FOLDER = "/metadata-backups";
const EXAMPLE = {
  id: "00000000-0000-4000-8000-000000000004/00000000-0000-4000-8000-000000000005",
  type: "pool",
  timestamp: 1_790_000_000_000,
};

const PublicBackup = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(["pool", "xo"]),
    backupRepository: Type.String(),
    timestamp: Type.Number({ description: "Time, in ms since the epoch." }),
    size: Type.Number({ description: "In bytes." }),
  },
  { additionalProperties: true },
);

/**
 * Backups, newest first.
 * @param repository absent: of all repositories
 * @throws XoError NO_SUCH_OBJECT
 */
async function listBackups(
  { backupArchives, backupRepositories }: OperationContext["services"],
  repository: string | undefined,
): Promise<ContractMetadataBackup[]> {
  if (repository !== undefined) backupRepositories.get(repository);
  const found: ContractMetadataBackup[] = [];
  for await (const page of backupArchives.list({
    of: "other",
    ...(repository === undefined ? {} : { repository }),
  }))
    found.push(
      ...page.flatMap((archive) => toContractMetadataBackup(archive) ?? []),
    );
  return found;
}

const metadataBackupGetAll = defineOperation({
  name: "metadataBackup.getAll",
  summary:
    "List the backups of databases of pools and of the configuration of the server, newest first. Reads the index, not the repositories.",
  params: Type.Object(
    {
      "backup-repository": Type.Optional(
        Type.String({
          description: "Only backups of the repository with this id.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Array(PublicBackup),
  permission: "admin",
  rest: {
    method: "get",
    path: FOLDER,
    operationId: "GetMetadataBackups",
    exposure: "allow",
    example: [EXAMPLE],
  },
  handler: (params, { services }) =>
    listBackups(services, params["backup-repository"]),
});

const metadataBackupList = defineOperation({
  name: "metadataBackup.list",
  summary:
    "List the backups of databases of pools, by repository and pool, and of the configuration of the server, by repository, oldest first.",
  params: Type.Object(
    {
      remotes: Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: 1_000,
        description: "Ids of backup repositories.",
      }),
    },
    closed,
  ),
  result: Type.Object({
    pool: Type.Record(Type.String(), Type.Unknown()),
    xo: Type.Record(Type.String(), Type.Unknown()),
  }),
  permission: "admin",
  async handler({ remotes }, { services }) {
    const pool: Record<string, Record<string, object[]>> = {};
    const xo: Record<string, object[]> = {};
    for (const remote of new Set(remotes)) {
      const byPool: Record<string, object[]> = (pool[remote] = {});
      const own: object[] = (xo[remote] = []);
      for (const backup of await listBackups(services, remote)) {
        const { uuid = "" } = (backup.pool ?? {}) as { uuid?: string };
        if (backup.type === "xo") own.unshift(backup);
        else (byPool[uuid] ??= []).unshift(backup);
      }
    }
    return { pool, xo };
  },
});

/** @throws XoError NO_SUCH_OBJECT */
async function findBackup(
  { backupArchives }: OperationContext["services"],
  id: string,
): Promise<{ readonly archive: Archive; readonly item: ArchivedItem }> {
  const archive = await backupArchives.get(id);
  const item = itemOf(archive);
  if (item !== undefined) return { archive, item };
  throw new XoError("NO_SUCH_OBJECT", { type: "metadata backup", id });
}

const metadataBackupDelete = defineOperation({
  ...change,
  name: "metadataBackup.delete",
  summary:
    "Delete a backup of the database of a pool or of the configuration of the server.",
  params: Type.Object({ id: archiveId }, closed),
  result: Type.Boolean(),
  rest: deleteRoute(`${FOLDER}/{id}`, "DeleteMetadataBackup"),
  async handler({ id }, { services, signal }) {
    await findBackup(services, id);
    await services.backupArchives.remove([id], signal);
    return true;
  },
});

const metadataBackupRestore = defineOperation({
  ...change,
  name: "metadataBackup.restore",
  summary:
    "Restore a metadata backup: the database of a pool, whose coordinator then restarts its toolstack, or the configuration of this server, which is replaced.",
  params: Type.Object(
    {
      id: archiveId,
      pool: Type.Optional(
        Type.String({
          description:
            "Id of the pool whose database is replaced; default: the pool that was backed up.",
        }),
      ),
      dryRun: Type.Optional(
        Type.Boolean({
          description:
            "Only checks whether the database can be restored on the pool; changes nothing.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Boolean(),
  rest: actionRoute(`${FOLDER}/{id}/actions/restore`, "RestoreMetadataBackup"),
  async handler({ id, pool, dryRun = false }, context) {
    const { archive, item } = await findBackup(context.services, id);
    return item.type === "pool"
      ? restorePool(context, archive, { pool: pool ?? item.id, dryRun })
      : restoreServer(context, archive, { pool, dryRun });
  },
});

async function restorePool(
  context: OperationContext,
  { id, repository, backup }: Archive,
  { pool, dryRun }: { readonly pool: string; readonly dryRun: boolean },
): Promise<boolean> {
  const { objects, services } = context;
  const { object } = objects.get(pool, "pool");
  const what = dryRun ? "Check of" : "Restore of";
  return asTask(
    context,
    {
      name: `${what} the database of ${String(object["name_label"])}`,
      objectId: pool,
      objectType: "pool",
      operation: "metadataBackup.restore",
      params: { id, pool, dryRun },
    },
    async (task) => {
      const { xapi } = objects.forTask(task).get(pool, "pool");
      const options = { repository, backup, dryRun };
      await restoreDatabase(xapi, services.backupRepositories, options, task);
      return true;
    },
  );
}

async function restoreServer(
  context: OperationContext,
  { id, repository, backup }: Archive,
  { pool, dryRun }: { readonly pool?: string | undefined; dryRun: boolean },
): Promise<boolean> {
  if (pool !== undefined || dryRun)
    throw new XoError("INVALID_PARAMETERS", {
      reason:
        "pool and dryRun are for backups of databases of pools; this one is of the configuration",
    });
  const { store, backupRepositories } = context.services;
  const { backupArchives, backupMaintenance } = context.services;
  return asTask(
    context,
    {
      name: "Restore of the configuration of the server",
      objectId: repository,
      objectType: REPOSITORY_TYPE,
      operation: "metadataBackup.restore",
      params: { id },
    },
    async (task) => {
      const options = { repository, backup };
      await restoreConfiguration(store, backupRepositories, options, task);
      backupArchives.refreshAll();
      backupMaintenance.inspectAll();
      return true;
    },
  );
}

/**
 * Backups of pool databases and of the configuration; named as in Xen Orchestra
 * where it has the operation.
 */
export const metadataBackupOperations = [
  metadataBackupGetAll,
  metadataBackupList,
  metadataBackupDelete,
  metadataBackupRestore,
];
