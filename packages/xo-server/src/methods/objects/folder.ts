import { Type } from "typebox";
import { invalidFolder, toFolderPath } from "../../objects/folder-path.js";
import {
  checkKnownFolder,
  EMPTY_FOLDERS_KEY,
  FOLDER_KEY,
  listFolders,
  readEmptyFolders,
  writeEmptyFolders,
} from "../../objects/folders.js";
import { readableTo } from "../../objects/readable.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";

const path = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Path of the folder, such as `/Production/Web`.",
});

const vmSetFolder = defineOperation({
  name: "vm.setFolder",
  summary:
    "Move a VM, template or snapshot to a folder; null: out of its folder. XenCenter and XCP-ng Center show the same folders. The folder must exist unless `create` is true.",
  params: Type.Object({
    id: idOf("a VM, template or snapshot"),
    folder: Type.Union([path, Type.Null()]),
    create: Type.Optional(
      Type.Boolean({
        description:
          "Whether the folder is created if it does not exist. Default: false.",
      }),
    ),
  }),
  result: Type.Boolean(),
  permission: onId("administrate:set", "*"),
  changes: true,
  handler: async ({ id, folder, create = false }, context) => {
    const { xapi, ref } = context.objects.get(
      id,
      "VM",
      "VM-template",
      "VM-snapshot",
    );
    const stored = folder === null ? undefined : toFolderPath(folder);
    if (stored !== undefined && !create) {
      const hint = " `create: true` creates it.";
      checkKnownFolder(stored, await foldersOf(context), hint);
    }
    await xapi.call("VM.remove_from_other_config", [ref, FOLDER_KEY]);
    if (stored !== undefined)
      await xapi.call("VM.add_to_other_config", [ref, FOLDER_KEY, stored]);
    return true;
  },
});

const folderGetAll = defineOperation({
  name: "folder.getAll",
  summary:
    "List the folders of all VMs and pools that the caller may read, with the number of VMs in each.",
  params: Type.Object({}),
  result: Type.Array(
    Type.Object({ folder: Type.String(), vms: Type.Integer() }),
  ),
  permission: "viewer",
  handler: async (_, context) => [
    ...(await listFolders(context.services.queries, readableTo(context))),
  ],
});

const emptyFolder = {
  params: Type.Object({ id: idOf("a pool"), folder: path }),
  result: Type.Boolean(),
  permission: onId("administrate:set", "pool"),
  changes: true,
};

const poolCreateFolder = defineOperation({
  ...emptyFolder,
  name: "pool.createFolder",
  summary: "Create a folder in a pool. It is kept while it is empty.",
  handler: async ({ id, folder }, context) => {
    const created = toFolderPath(folder);
    await changeEmptyFolders(id, context, (paths) => [...paths, created]);
    return true;
  },
});

const poolDeleteFolder = defineOperation({
  ...emptyFolder,
  name: "pool.deleteFolder",
  summary: "Delete an empty folder of a pool, with the folders in it.",
  handler: async ({ id, folder }, context) => {
    const deleted = toFolderPath(folder);
    const isIn = (one: string) =>
      one === deleted || one.startsWith(`${deleted}/`);
    const inUse = await vmsIn(id, isIn, context);
    if (inUse > 0)
      throw invalidFolder(
        `"${deleted}" contains ${inUse} VMs: move them to another folder first`,
      );
    await changeEmptyFolders(id, context, (paths) => {
      if (!paths.some(isIn)) checkKnownFolder(deleted, paths, "");
      return paths.filter((one) => !isIn(one));
    });
    return true;
  },
});

async function foldersOf(context: OperationContext): Promise<string[]> {
  const { queries } = context.services;
  const folders = await listFolders(queries, readableTo(context));
  return folders.map(({ folder }) => folder);
}

/** Number of VMs of a pool in folders, counting those that the caller may read. */
async function vmsIn(
  pool: string,
  isIn: (path: string) => boolean,
  context: OperationContext,
): Promise<number> {
  const where = readableTo(context)("VM");
  const groups = await context.services.queries.group(
    {
      type: "VM",
      filter: `$pool:${pool}`,
      ...(where === undefined ? {} : { where }),
    },
    "folder",
  );
  return groups.reduce(
    (sum, { key, count }) =>
      typeof key === "string" && isIn(key) ? sum + count : sum,
    0,
  );
}

async function changeEmptyFolders(
  id: string,
  { objects }: OperationContext,
  change: (paths: readonly string[]) => readonly string[],
): Promise<void> {
  const { xapi, ref } = objects.get(id, "pool");
  const entries = await xapi.call("pool.get_other_config", [ref]);
  const before = readEmptyFolders(
    (entries as Readonly<Record<string, string>>)[EMPTY_FOLDERS_KEY],
  );
  const text = writeEmptyFolders(change(before));
  await xapi.call("pool.remove_from_other_config", [ref, EMPTY_FOLDERS_KEY]);
  if (text !== "")
    await xapi.call("pool.add_to_other_config", [ref, EMPTY_FOLDERS_KEY, text]);
}

/** Folders of VMs, shared with XenCenter. */
export const folderOperations = [
  vmSetFolder,
  folderGetAll,
  poolCreateFolder,
  poolDeleteFolder,
];
