import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { BackupDescription } from "@xo-server/backup";
import {
  parseArchiveId,
  takenAt,
  type Archive,
} from "../../backups/archives/archive.js";
import {
  interfacesOf,
  type ArchivedInterface,
} from "../../backups/archives/interfaces.js";
import { verificationOf } from "../../backups/repositories/verification.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { findRepository, mayUse } from "./find-repository.js";

const closed = { additionalProperties: false } as const;
export const archiveId = Type.String({
  minLength: 1,
  description: "Id of a backup: repository/backup.",
});
const EXAMPLE_ID = "00000000-0000-4000-8000-000000000004";
const EXAMPLE = `${EXAMPLE_ID}/00000000-0000-4000-8000-000000000005`;

const PublicArchive = Type.Object({
  id: Type.String(),
  type: Type.Literal("xo-vm-backup"),
  backupRepository: Type.String(),
  timestamp: Type.Number({
    description:
      "Time of the snapshot that was backed up, in ms since the epoch; of a copy that of the original.",
  }),
  mode: Type.String(),
  jobId: Type.Optional(Type.String()),
  scheduleId: Type.Optional(Type.String()),
  vm: Type.Optional(Type.Object({}, { additionalProperties: true })),
  pool: Type.Optional(Type.Object({}, { additionalProperties: true })),
  disks: Type.Array(Type.Object({}, { additionalProperties: true })),
  size: Type.Number({ description: "Size of all disks, in bytes." }),
  read: Type.Optional(
    Type.Number({
      description: "Data read from the pool for this backup, in bytes.",
    }),
  ),
  stored: Type.Optional(
    Type.Number({ description: "Data stored for this backup only, in bytes." }),
  ),
  skipped: Type.Array(Type.Unknown()),
  verification: Type.Enum(["verified", "damaged", "none"]),
  restoreTest: Type.Optional(
    Type.Object(
      { time: Type.Number(), success: Type.Boolean() },
      { additionalProperties: true, description: "The last restore test." },
    ),
  ),
  allowed: Type.Array(Type.Enum(["restore", "download", "delete"]), {
    description: "Operations that the caller may run on the object.",
  }),
});
type PublicArchive = Static<typeof PublicArchive>;

const textOf = (value: unknown) =>
  typeof value === "string" ? value : undefined;

function toPublic(
  archive: Archive,
  context: Pick<OperationContext, "services" | "user">,
): PublicArchive {
  const { id, repository, properties, disks, sizes } = archive;
  const { vm, pool, skipped, mode } = properties;
  const record = context.services.backupRepositories.get(repository);
  const [jobId, scheduleId] = [properties["job"], properties["schedule"]].map(
    textOf,
  );
  const restoreTest = record.state.restoreTests?.find(
    ({ backup }) => backup === archive.backup,
  );
  return {
    id,
    type: "xo-vm-backup",
    backupRepository: repository,
    timestamp: takenAt(archive),
    mode: mode === "incremental" ? "delta" : "full",
    ...(jobId === undefined ? {} : { jobId }),
    ...(scheduleId === undefined ? {} : { scheduleId }),
    ...(isObject(vm) ? { vm: { ...vm, id: vm["uuid"] } } : {}),
    ...(isObject(pool) ? { pool } : {}),
    disks: disks.map(({ name, size, properties: more }) => ({
      id: `${id}/${name}`,
      uuid: textOf(more["vdi"]) ?? name,
      name: textOf(more["name_label"]) ?? name,
      size,
      position: textOf(more["userdevice"]),
    })),
    size: sizes.disks,
    ...(sizes.read === undefined ? {} : { read: sizes.read }),
    ...(sizes.stored === undefined ? {} : { stored: sizes.stored }),
    skipped: Array.isArray(skipped) ? skipped : [],
    verification: verificationOf(record.state, archive),
    ...(restoreTest === undefined ? {} : { restoreTest }),
    allowed: [
      ...(mayUse(context, "administrate:restore", record)
        ? (["restore", "download"] as const)
        : []),
      ...(mayUse(context, "administrate:delete", record)
        ? (["delete"] as const)
        : []),
    ],
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Names of the repositories that the caller may read. */
function readable(context: OperationContext): ReadonlySet<string> {
  return new Set(
    context.services.backupRepositories
      .all()
      .filter((one) => mayUse(context, "read", one))
      .map((one) => one.id),
  );
}

const backupNgListVmBackups = defineOperation({
  name: "backupNg.listVmBackups",
  summary:
    "List the backups of VMs in repositories, by repository and VM, oldest first. Reads the index, not the repositories.",
  params: Type.Object(
    {
      remotes: Type.Array(Type.String(), {
        maxItems: 1_000,
        description: "Ids of backup repositories.",
      }),
      _forceRefresh: Type.Optional(
        Type.Boolean({
          description: "Reads the repositories and updates the index first.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Record(Type.String(), Type.Unknown()),
  permission: "user",
  handler: async ({ remotes, _forceRefresh = false }, context) => {
    const { backupArchives, backupRepositories } = context.services;
    const result: Record<string, Record<string, unknown[]>> = {};
    for (const remote of new Set(remotes)) {
      findRepository(context, "read", remote);
      if (_forceRefresh) {
        await backupRepositories.inspect(remote, context.signal);
        await backupArchives.refresh(remote);
      }
      const byVm: Record<string, unknown[]> = {};
      for await (const page of backupArchives.list({
        repository: remote,
        of: "vm",
      }))
        for (const archive of page)
          if (archive.vm !== undefined)
            (byVm[archive.vm] ??= []).unshift(toPublic(archive, context));
      result[remote] = byVm;
    }
    return result;
  },
});

const backupArchiveGetAll = defineOperation({
  name: "backupArchive.getAll",
  summary:
    "List the backups of VMs, newest first. Reads the index, not the repositories.",
  params: Type.Object(
    {
      "backup-repository": Type.Optional(
        Type.String({
          description: "Only backups of the repository with this id.",
        }),
      ),
      vm: Type.Optional(
        Type.String({ description: "Only backups of this VM." }),
      ),
    },
    closed,
  ),
  result: Type.Array(PublicArchive),
  permission: "user",
  rest: {
    method: "get",
    path: "/backup-archives",
    operationId: "GetBackupArchives",
    exposure: "allow",
    example: [{ id: EXAMPLE, mode: "delta" }],
  },
  handler: async (params, context) => {
    const { vm, "backup-repository": repository } = params;
    if (repository !== undefined) findRepository(context, "read", repository);
    const allowed = readable(context);
    const found: PublicArchive[] = [];
    for await (const page of context.services.backupArchives.list({
      of: "vm",
      ...(repository === undefined ? {} : { repository }),
      ...(vm === undefined ? {} : { vm }),
    }))
      for (const archive of page)
        if (allowed.has(archive.repository))
          found.push(toPublic(archive, context));
    return found;
  },
});

const backupArchiveGet = defineOperation({
  name: "backupArchive.get",
  summary: "Return a backup of a VM. Reads the index, not the repository.",
  params: Type.Object({ id: archiveId }, closed),
  result: PublicArchive,
  permission: "user",
  rest: {
    method: "get",
    path: "/backup-archives/{id}",
    operationId: "GetBackupArchive",
    exposure: "allow",
    example: { id: EXAMPLE, mode: "delta" },
  },
  handler: async ({ id }, context) =>
    toPublic(await findVmBackup(context, "read", id), context),
});

const PublicInterface = Type.Object({
  device: Type.String({ description: "Number of the device in the VM." }),
  mac: Type.String(),
  network: Type.Object(
    { uuid: Type.String(), name: Type.String() },
    { description: "The network to which it was attached." },
  ),
});

const backupArchiveGetInterfaces = defineOperation({
  name: "backupArchive.getInterfaces",
  summary:
    "List the network interfaces of the VM of a backup. Reads the index, or the manifest of backups whose index entry lacks them.",
  params: Type.Object({ id: archiveId }, closed),
  result: Type.Array(PublicInterface),
  permission: "user",
  rest: {
    method: "get",
    path: "/backup-archives/{id}/interfaces",
    operationId: "GetBackupArchiveInterfaces",
    exposure: "allow",
    example: [
      {
        device: "0",
        mac: "00:16:3e:00:00:01",
        network: { uuid: EXAMPLE_ID, name: "LAN" },
      },
    ],
  },
  handler: async ({ id }, context) => {
    const archive = await findVmBackup(context, "read", id);
    const { repository, backup, properties } = archive;
    const { backupRepositories } = context.services;
    const indexed = properties["interfaces"];
    if (Array.isArray(indexed)) return indexed as ArchivedInterface[];
    const described = await backupRepositories.run<BackupDescription>(
      repository,
      { type: "describe", backup },
      { signal: context.signal },
    );
    return interfacesOf(described.properties["records"]);
  },
});

const remove = {
  permission: "user",
  changes: true,
  result: Type.Boolean(),
} as const;

const backupNgDeleteVmBackup = defineOperation({
  name: "backupNg.deleteVmBackup",
  summary:
    "Delete a backup. No other backup depends on it; its space is released by garbage collection.",
  params: Type.Object({ id: archiveId }, closed),
  ...remove,
  rest: {
    method: "delete",
    path: "/backup-archives/{id}",
    operationId: "DeleteBackupArchive",
    exposure: "confirm",
    status: 204,
  },
  handler: ({ id }, context) => removeAll(context, [id]),
});

const backupNgDeleteVmBackups = defineOperation({
  name: "backupNg.deleteVmBackups",
  summary: "Delete several backups.",
  params: Type.Object(
    {
      ids: Type.Array(archiveId, {
        minItems: 1,
        maxItems: 10_000,
        description: "Ids of the backups.",
      }),
    },
    closed,
  ),
  ...remove,
  handler: ({ ids }, context) => removeAll(context, ids),
});

async function removeAll(
  context: OperationContext,
  ids: readonly string[],
): Promise<true> {
  const { backupArchives } = context.services;
  for (const id of ids) await findVmBackup(context, "administrate:delete", id);
  await backupArchives.remove(ids, context.signal);
  return true;
}

/**
 * A backup of a VM in a repository on which the caller has a right. Backups of pool
 * databases and of the configuration are not found here, because only
 * administrators use them.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN
 */
export async function findVmBackup(
  context: OperationContext,
  action: Parameters<typeof findRepository>[1],
  id: string,
): Promise<Archive> {
  const { repository } = parseArchiveId(id) ?? {};
  if (repository === undefined) throw noArchive(id);
  findRepository(context, action, repository);
  const archive = await context.services.backupArchives.get(id);
  if (archive.vm === undefined) throw noArchive(id);
  return archive;
}

function noArchive(id: string): XoError {
  return new XoError("NO_SUCH_OBJECT", { type: "backup archive", id });
}

/** Backups of VMs in all repositories; named as in Xen Orchestra where it has the operation. */
export const backupArchiveOperations = [
  backupNgListVmBackups,
  backupArchiveGetAll,
  backupArchiveGet,
  backupArchiveGetInterfaces,
  backupNgDeleteVmBackup,
  backupNgDeleteVmBackups,
];
