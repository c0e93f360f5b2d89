import { Type } from "typebox";
import { MAX_OBJECTS } from "../../bulk/bulk-objects.js";
import { defineOperation } from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import {
  DeletionSummary,
  summarizeDeletion,
} from "../../vms/deletion-summary.js";
import { destroyVm } from "../../vms/destroy-vm.js";
import { assertDiskCounted } from "../../vms/limits/set-growth.js";
import { id } from "../../vms/parameters/vm-parameters.js";
import { deleteRoute, onId } from "../definition/on-object.js";

const TYPES = ["VM", "VM-template", "VM-snapshot"] as const;

const routes: readonly RestRoute[] = [
  {
    ...deleteRoute("/vms/{id}", "DeleteVm"),
    summary:
      "Delete a VM with its disks and snapshots; a running VM gets a hard shutdown.",
  },
  {
    ...deleteRoute("/vm-templates/{id}", "DeleteVmTemplate"),
    summary: "Delete a template with its disks.",
  },
  {
    ...deleteRoute("/vm-snapshots/{id}", "DeleteVmSnapshot"),
    summary: "Delete a snapshot with its disks.",
  },
];

const vmDelete = defineOperation({
  name: "vm.delete",
  summary:
    "Delete a VM, template or snapshot, with its snapshots and with the disks that no other VM uses.",
  params: Type.Object({
    id,
    deleteDisks: Type.Optional(
      Type.Boolean({
        description: "Whether the disks are deleted too. Default: true.",
      }),
    ),
    force: Type.Optional(
      Type.Boolean({
        description:
          "true: sets forceBlockedOperation and forceDeleteDefaultTemplate. false: rejects a running or paused VM. Default: a running VM is shut down (hard shutdown), as clients of Xen Orchestra expect.",
      }),
    ),
    forceBlockedOperation: Type.Optional(
      Type.Boolean({
        description:
          "Deletes the VM also if the operation `destroy` is blocked on it.",
      }),
    ),
    forceDeleteDefaultTemplate: Type.Optional(
      Type.Boolean({
        description: "Deletes the template also if it is a default template.",
      }),
    ),
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

const vmGetDeletionSummary = defineOperation({
  name: "vm.getDeletionSummary",
  summary:
    "Return the numbers of disks, snapshots and bytes that would be deleted with VMs, templates or snapshots.",
  params: Type.Object({
    ids: Type.Array(id, {
      minItems: 1,
      maxItems: MAX_OBJECTS,
      description: "Ids of VMs, templates and snapshots.",
    }),
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
