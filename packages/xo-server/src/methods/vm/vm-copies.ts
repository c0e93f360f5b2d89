import { XoError, type Ref } from "@xo-server/model";
import { Type } from "typebox";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { copyVm } from "../../vms/copy-vm.js";
import { withCopy } from "../../vms/limits/set-growth.js";
import { addVm } from "../../vms/destroy-vm.js";
import { withRollback, untrackedXapi } from "../../vms/rollback.js";
import { id } from "../../vms/parameters/vm-parameters.js";
import { idOfMade } from "../definition/on-object.js";

/** Characters of a name that is made of a template. */
const MAX_NAME = 4096;

const name = Type.Optional(
  Type.String({
    description: "Name of the copy. Default: the name of the source.",
  }),
);
const namePattern = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1024,
    description:
      "Template of the name, instead of `name`, for several VMs (bulk.run): {name} is replaced with the name of the source.",
  }),
);
const compress = Type.Optional(
  Type.Union([Type.Boolean(), Type.Enum(["", "gzip", "native", "zstd"])], {
    description: "Compression of the data that is sent to another pool.",
  }),
);
const sr = Type.String({
  minLength: 1,
  description: "Id of the SR of the disks, in this pool or in another.",
});

const shared = { result: Type.String(), changes: true };

const source = ({ objects }: Pick<OperationContext, "objects">, vm: string) =>
  objects.get(vm, "VM", "VM-snapshot");

const vmClone = defineOperation({
  ...shared,
  name: "vm.clone",
  summary: "Clone a VM and return the id of the clone.",
  params: Type.Object({
    id,
    name,
    namePattern,
    full_copy: Type.Optional(
      Type.Boolean({
        description: "Copies all data (full copy). Default: false.",
      }),
    ),
    fast: Type.Optional(
      Type.Boolean({
        description:
          "Shares data with the source if the storage supports it (fast clone). Default: true.",
      }),
    ),
    sr: Type.Optional(sr),
    compress,
  }),
  permission: {
    action: "administrate:clone",
    resource: "*",
    id: ({ id }) => id,
  },
  rest: {
    method: "post",
    path: "/vms/{id}/actions/clone",
    operationId: "CloneVm",
    exposure: "confirm",
    isAction: true,
    creates: "vms",
    body: { name_label: "name", srId: "sr" },
  },
  handler: (input, context) => {
    const { id: vm, full_copy = false, fast = !full_copy } = input;
    const { sr } = input;
    const from = source(context, vm);
    const options = {
      name: nameFor(from.object, input),
      compress: input.compress,
    };
    if (sr !== undefined) context.check("operate:store", "SR", sr);
    return withCopy(from, context, () =>
      sr === undefined
        ? clone(context.objects, from, { ...options, fast })
        : copy(context.objects, from, { ...options, sr }),
    );
  },
});

const vmCopy = defineOperation({
  ...shared,
  name: "vm.copy",
  summary:
    "Copy a VM with all its data, in its pool or to another pool, and return the id of the copy.",
  params: Type.Object({ vm: id, sr, name, namePattern, compress }),
  permission: {
    action: "administrate:clone",
    resource: "*",
    id: ({ vm }) => vm,
  },
  handler: ({ vm, ...options }, context) => {
    context.check("operate:store", "SR", options.sr);
    const from = source(context, vm);
    const { sr, compress } = options;
    const name = nameFor(from.object, options);
    return withCopy(from, context, () =>
      copy(context.objects, from, { sr, name, compress }),
    );
  },
});

const vmCopyToTemplate = defineOperation({
  ...shared,
  name: "vm.copyToTemplate",
  summary: "Create a template from a copy of a VM and return its id.",
  params: Type.Object({ id }),
  permission: {
    action: "administrate:clone",
    resource: "*",
    id: ({ id }) => id,
  },
  handler: ({ id }, context) => {
    const from = source(context, id);
    return withCopy(
      from,
      context,
      () => copyToTemplate(context.objects, from),
      "template",
    );
  },
});

const vmConvertFromTemplate = defineOperation({
  name: "vm.convertFromTemplate",
  summary: "Convert a template to a VM. Default templates are rejected.",
  params: Type.Object({ id }),
  result: Type.Boolean(),
  changes: true,
  permission: {
    action: "administrate:convert",
    resource: "VM-template",
    id: ({ id }) => id,
  },
  handler: async ({ id }, context) => {
    const template = context.objects.get(id, "VM-template");
    const { xapi, ref, object } = template;
    if (object["isDefaultTemplate"] === true)
      throw new XoError("FORBIDDEN_OPERATION", {
        operation: "convert",
        reason: "it is a default template",
        objectId: id,
      });
    await withCopy(
      template,
      context,
      async () => {
        await xapi.call("VM.set_is_a_template", [ref, false]);
        return id;
      },
      "converted",
    );
    return true;
  },
});

async function copyToTemplate(
  objects: PoolObjects,
  { id, xapi, ref, object }: PoolObject,
): Promise<string> {
  return withRollback(untrackedXapi(objects, id), async (rollback) => {
    const label = String(object["name_label"]);
    const copy = (await xapi.callAsync("VM.clone", [ref, label])) as Ref;
    addVm(rollback, copy);
    // A clone of a snapshot or template is already a template, which XAPI refuses to convert.
    if ((await xapi.call("VM.get_is_a_template", [copy])) !== true)
      await xapi.call("VM.set_is_a_template", [copy, true]);
    return idOfMade(objects, xapi, { type: "VM-template", ref: copy });
  });
}

interface CloneOptions {
  readonly name?: string | undefined;
  readonly fast: boolean;
}

async function clone(
  objects: PoolObjects,
  vm: PoolObject,
  { name = nameOf(vm.object, "clone"), fast }: CloneOptions,
): Promise<string> {
  const { xapi, ref } = vm;
  const cleanupXapi = untrackedXapi(objects, vm.id);
  return withRollback(cleanupXapi, async (rollback) => {
    if (!fast) {
      const copy = await copyVm(vm, { name, rollback, cleanupXapi });
      return viewOfVm(objects, copy);
    }
    const copy = (await xapi.callAsync("VM.clone", [ref, name])) as Ref;
    addVm(rollback, copy);
    return viewOfVm(objects, { xapi, ref: copy });
  });
}

interface CopyOptions {
  readonly sr: string;
  readonly name?: string | undefined;
  readonly compress?: boolean | string | undefined;
}

async function copy(
  objects: PoolObjects,
  vm: PoolObject,
  { sr, name = nameOf(vm.object, "copy"), compress = false }: CopyOptions,
): Promise<string> {
  const cleanupXapi = untrackedXapi(objects, sr);
  return withRollback(cleanupXapi, async (rollback) => {
    const copy = await copyVm(vm, {
      name,
      sr: objects.get(sr, "SR"),
      rollback,
      cleanupXapi: untrackedXapi(objects, vm.id),
      compression: toCompression(compress),
    });
    return viewOfVm(objects, copy);
  });
}

function toCompression(input: boolean | string): "" | "gzip" | "zstd" {
  if (input === "zstd") return input;
  return input === false || input === "" ? "" : "gzip";
}

function nameOf(object: PoolObject["object"], what: string): string {
  return `${String(object["name_label"])}_${what}`;
}

interface GivenName {
  readonly name?: string | undefined;
  readonly namePattern?: string | undefined;
}

/** @throws XoError INVALID_PARAMETERS */
function nameFor(
  object: PoolObject["object"],
  { name, namePattern }: GivenName,
): string | undefined {
  if (namePattern === undefined) return name;
  if (name !== undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "either name or namePattern, not both",
    });
  const source = String(object["name_label"]).slice(0, MAX_NAME);
  return namePattern.replaceAll("{name}", () => source).slice(0, MAX_NAME);
}

/** XAPI's copy of a snapshot is a template, like all snapshots. */
async function viewOfVm(
  objects: PoolObjects,
  { xapi, ref }: { readonly xapi: Xapi; readonly ref: Ref },
): Promise<string> {
  if (await xapi.call("VM.get_is_a_template", [ref]))
    await xapi.call("VM.set_is_a_template", [ref, false]);
  return idOfMade(objects, xapi, { type: "VM", ref });
}

/** Clones and copies of VMs, and conversion between VMs and templates. */
export const vmCopiesOperations = [
  vmClone,
  vmCopy,
  vmCopyToTemplate,
  vmConvertFromTemplate,
  ...["vm.convertToTemplate", "vm.convert"].map((name) =>
    defineOperation({
      name,
      summary:
        name === "vm.convert"
          ? "Deprecated: convert a halted VM to a template, as vm.convertToTemplate does."
          : "Convert a halted VM to a template.",
      params: Type.Object({ id }),
      result: Type.Boolean(),
      changes: true,
      permission: {
        action: "administrate:convert",
        resource: "VM",
        id: ({ id }) => id,
      },
      handler: async ({ id }, { objects }) => {
        const { xapi, ref } = objects.get(id, "VM");
        await xapi.call("VM.set_is_a_template", [ref, true]);
        return true;
      },
    }),
  ),
];
