import { Type } from "typebox";
import { defineOperation } from "./define-operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { destroyVm } from "../vms/destroy-vm.js";
import { id } from "../vms/vm-parameters.js";
import { deleteRoute, onId } from "./on-object.js";

const TYPES = ["VM", "VM-template", "VM-snapshot"] as const;

const routes: readonly RestRoute[] = [
  {
    ...deleteRoute("/vms/{id}", "DeleteVm"),
    summary: "Deletes a VM with its disks and snapshots; its power goes",
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
    "Deletes a VM, template or snapshot, with its snapshots and the disks that no other VM has.",
  params: Type.Object({
    id,
    deleteDisks: Type.Optional(Type.Boolean({ description: "Default." })),
    force: Type.Optional(
      Type.Boolean({ description: "Both of the following." }),
    ),
    forceBlockedOperation: Type.Optional(
      Type.Boolean({ description: "Also where `destroy` is blocked." }),
    ),
    forceDeleteDefaultTemplate: Type.Optional(Type.Boolean()),
  }),
  result: Type.Boolean(),
  permission: onId("administrate:delete", "*"),
  changes: true,
  rest: routes,
  handler: async (
    { id, deleteDisks = true, force = false, ...forced },
    { objects },
  ) => {
    const { xapi, ref } = objects.get(id, ...TYPES);
    const {
      forceBlockedOperation = force,
      forceDeleteDefaultTemplate = force,
    } = forced;
    await destroyVm(xapi, ref, {
      deleteDisks,
      bypassBlock: forceBlockedOperation,
      evenDefaultTemplate: forceDeleteDefaultTemplate,
    });
    return true;
  },
});

export const vmDeleteOperations = [vmDelete];
