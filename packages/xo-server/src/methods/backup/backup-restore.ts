import { Type } from "typebox";
import type { RestoreRequest } from "../../backups/restore/restore-plan.js";
import { abandonRestore } from "../../backups/restore/abandon-restore.js";
import {
  newState,
  runRestore,
  type RestoreState,
} from "../../backups/restore/run-restore.js";
import { sharesOf } from "../../backups/restore/restore-share.js";
import { untilSettled } from "../../backups/restore/until-settled.js";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import { asTask } from "../definition/as-task.js";
import { archiveId, findVmBackup } from "./backup-archive.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf } from "../definition/on-object.js";

const closed = { additionalProperties: false } as const;

const restored = {
  permission: "user",
  changes: true,
  resumesAtOnce: true,
} as const;

const optionalName = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 256,
    description: "Name of the new VM.",
  }),
);

const backupRestore = defineOperation({
  name: "backup.restore",
  summary:
    "Restore a VM from a backup as a new VM. Its task is resumed after a restart of the server; if it fails or is cancelled, the new VM is deleted.",
  params: Type.Object(
    {
      id: archiveId,
      sr: idOf("the SR of the disks; its pool is that of the new VM"),
      srs: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description:
            "SRs of single disks: id of the SR, by the name of the disk.",
        }),
      ),
      disks: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: 256,
          description: "Names of the disks to restore. Default: all.",
        }),
      ),
      networks: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
          description:
            "Network of each interface: id of the network, by the device of the interface; null: no interface. Default: the network with the same UUID, or the only network with the same name.",
        }),
      ),
      name: optionalName,
      newMacs: Type.Optional(
        Type.Boolean({
          description:
            "Whether interfaces get new MAC addresses. Default: true if the VM that was backed up still exists.",
        }),
      ),
      start: Type.Optional(
        Type.Boolean({
          description: "Whether the new VM is started. Default: false.",
        }),
      ),
      differential: Type.Optional(
        Type.Boolean({
          description:
            "Starts from clones of snapshots of the VM that are known backups, and writes only the differences.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({ id: Type.String() }),
  ...restored,
  rest: {
    method: "post",
    path: "/backup-archives/{id}/actions/restore",
    operationId: "RestoreBackupArchive",
    exposure: "confirm",
    isAction: true,
  },
  handler: (input, context) => restore(toRequest(input), context),
  resume: (state: RestoreState, context, interrupted) =>
    resume(state, context, interrupted),
  abandon: abandonRestore,
});

const backupNgImportVmBackup = defineOperation({
  name: "backupNg.importVmBackup",
  summary: "Restore a VM from a backup as a new VM and return its id.",
  params: Type.Object(
    {
      id: archiveId,
      sr: idOf("the SR of the disks; its pool is that of the new VM"),
      settings: Type.Optional(
        Type.Object(
          {
            mapVdisSrs: Type.Optional(
              Type.Record(
                Type.String(),
                Type.Union([Type.String(), Type.Null()]),
                {
                  description:
                    "Id of an SR, by the UUID of the disk; null: the disk is not restored.",
                },
              ),
            ),
            newMacAddresses: Type.Optional(
              Type.Boolean({
                description: "Whether interfaces get new MAC addresses.",
              }),
            ),
          },
          { additionalProperties: true },
        ),
      ),
      useDifferentialRestore: Type.Optional(
        Type.Boolean({
          description:
            "Starts from clones of snapshots of the VM that are known backups, and writes only the differences.",
        }),
      ),
    },
    closed,
  ),
  result: Type.String({ description: "Id of the VM." }),
  ...restored,
  handler: async (input, context) => {
    const { id, sr, settings = {}, useDifferentialRestore } = input;
    const { mapVdisSrs = {}, newMacAddresses = false } = settings;
    const disks = await disksOf(context, id);
    const srs: Record<string, string> = {};
    for (const { name, uuid } of disks) {
      const mapped = mapVdisSrs[uuid] ?? mapVdisSrs[name];
      if (typeof mapped === "string") srs[name] = mapped;
    }
    const isLeftOut = (key: string) => mapVdisSrs[key] === null;
    const created = await restore(
      toRequest({
        id,
        sr,
        srs,
        disks: disks
          .filter(({ name, uuid }) => !isLeftOut(name) && !isLeftOut(uuid))
          .map(({ name }) => name),
        newMacs: newMacAddresses,
        differential: useDifferentialRestore,
      }),
      context,
    );
    return created.id;
  },
  resume: async (state: RestoreState, context, interrupted) =>
    (await resume(state, context, interrupted)).id,
});

type RestoreInput = Pick<RestoreRequest, "id" | "sr"> & {
  readonly [K in keyof RestoreRequest]?: RestoreRequest[K] | undefined;
};

function toRequest(input: RestoreInput): RestoreRequest {
  const {
    srs = {},
    networks = {},
    start = false,
    differential = false,
  } = input;
  return { ...input, srs, networks, start, differential };
}

/** Names and UUIDs of the disks of a backup, from the index. */
async function disksOf(
  context: OperationContext,
  id: string,
): Promise<readonly { readonly name: string; readonly uuid: string }[]> {
  const { disks } = await findVmBackup(context, "administrate:restore", id);
  return disks.map(({ name, properties: { vdi } }) => ({
    name,
    uuid: typeof vdi === "string" ? vdi : name,
  }));
}

async function restore(
  request: RestoreRequest,
  context: OperationContext,
): Promise<{ id: string }> {
  const archive = await findVmBackup(
    context,
    "administrate:restore",
    request.id,
  );
  const { object } = context.objects.get(request.sr, "SR");
  const { name_label } = (archive.properties["vm"] ?? {}) as {
    name_label?: string;
  };
  return asTask(
    context,
    {
      name: `Restore of ${name_label ?? archive.backup}`,
      objectId: String(object["$pool"]),
      objectType: "pool",
      operation: "backup.restore",
      params: request,
    },
    async (task) => {
      const state = newState(request);
      await task.persistState(state);
      const { id } = await runRestore(state, limitedParts(context), task);
      return { id };
    },
  );
}

async function resume(
  state: RestoreState,
  context: OperationContext,
  interrupted: InterruptedTask,
): Promise<{ id: string }> {
  const archive = await findVmBackup(
    context,
    "administrate:restore",
    state.request.id,
  );
  const { xapi } = context.objects.untracked.get(state.request.sr, "SR");
  const disks = archive.disks.map(({ name }) => name);
  await untilSettled({ xapi, disks, previous: interrupted }, context.task);
  const { id } = await runRestore(
    state,
    limitedParts(context),
    context.task,
    interrupted.steps,
  );
  return { id };
}

/** Services for a restore that is limited by the resource set of the VM that was backed up. */
function limitedParts(context: OperationContext) {
  const shares = sharesOf(context, context.services.resourceSets);
  return { ...parts(context), ...(shares === undefined ? {} : { shares }) };
}

/** Services for a restore. */
export function parts(context: OperationContext) {
  const { services, objects, signal } = context;
  return {
    repositories: services.backupRepositories,
    archives: services.backupArchives,
    objects,
    signal,
    check: (...right: Parameters<OperationContext["check"]>) =>
      context.check(...right),
    now: () => services.clock.now(),
  };
}

/** Restores of whole VMs. */
export const backupRestoreOperations = [backupRestore, backupNgImportVmBackup];
