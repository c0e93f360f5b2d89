import { Type } from "typebox";
import { MAX_OBJECTS } from "../bulk/bulk-objects.js";
import { defineOperation } from "./define-operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { DeletionSummary, summarizeDeletion } from "../vms/deletion-summary.js";
import { destroyVm } from "../vms/destroy-vm.js";
import { assertDiskCounted } from "../vms/set-growth.js";
import { id } from "../vms/vm-parameters.js";
import { deleteRoute, onId } from "./on-object.js";

const TYPES = ["VM", "VM-template", "VM-snapshot"] as const;

const routes: readonly RestRoute[] = [
  {
    ...deleteRoute("/vms/{id}", "DeleteVm"),
    summary:
      "Deletes a VM with its disks and snapshots; a running VM gets a hard shutdown",
  },
  {
    ...deleteRoute("/vm-templates/{id}", "DeleteVmTemplate"),
    summary: "Deletes a template with its disks",
  },
  {
    ...deleteRoute("/vm-snapshots/{id}", "DeleteVmSnapshot"),
    summary: "Deletes a snapshot with its disks",
  },
];

export const vmDelete = defineOperation({
  name: "vm.delete",
  summary:
    "Deletes a VM, template or snapshot, with its snapshots and with the disks that no other VM uses.",
  params: Type.Object({
    id,
    deleteDisks: Type.Optional(Type.Boolean({ description: "Default." })),
    force: Type.Optional(
      Type.Boolean({
        description:
          "true sets both of the following options. false refuses a running or paused VM. Default: a running VM gets a hard shutdown, as clients of Xen Orchestra expect.",
      }),
    ),
    forceBlockedOperation: Type.Optional(
      Type.Boolean({ description: "Also if `destroy` is blocked on the VM." }),
    ),
    forceDeleteDefaultTemplate: Type.Optional(Type.Boolean()),
  }),
  result: Type.Boolean(),
  permission: onId("administrate:delete", "*"),
  changes: true,
  rest: routes,
  handler: async ({ id, deleteDisks = true, force, ...forced }, context) => {
    const vm = context.objects.get(id, ...TYPES);
    const { xapi, ref } = vm;
    if (!deleteDisks) assertDiskCounted(vm, context);
    const {
      forceBlockedOperation = force === true,
      forceDeleteDefaultTemplate = force === true,
    } = forced;
    await destroyVm(xapi, ref, {
      deleteDisks,
      bypassBlock: forceBlockedOperation,
      evenDefaultTemplate: forceDeleteDefaultTemplate,
      evenRunning: force !== false,
    });
    return true;
  },
});

export const vmGetDeletionSummary = defineOperation({
  name: "vm.getDeletionSummary",
  summary:
    "Counts what is deleted with VMs, templates or snapshots: disks, snapshots, bytes.",
  params: Type.Object({
    ids: Type.Array(id, { minItems: 1, maxItems: MAX_OBJECTS }),
  }),
  result: DeletionSummary,
  permission: "user",
  handler: ({ ids }, { services, user }) =>
    summarizeDeletion(
      ids,
      services,
      (type, object) =>
        user !== undefined &&
        (user.isAdmin || user.rights.may("read", type, object)),
    ),
});

export const vmDeleteOperations = [vmDelete, vmGetDeletionSummary];
