import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { idOf, idOfMade, onId } from "../definition/on-object.js";

const vtpmCreate = defineOperation({
  name: "vtpm.create",
  summary: "Create a virtual TPM (VTPM) of a halted VM and return its id.",
  params: Type.Object({ id: idOf("a VM") }),
  result: Type.String(),
  permission: onId("administrate:create-vtpm", "VM"),
  changes: true,
  handler: async ({ id }, { objects }) => {
    const { xapi, ref } = objects.get(id, "VM");
    const created = await xapi.callAsync("VTPM.create", [ref, false]);
    return idOfMade(objects, xapi, { type: "VTPM", ref: created });
  },
});

const vtpmDestroy = defineOperation({
  name: "vtpm.destroy",
  summary: "Delete the virtual TPM (VTPM) of a halted VM, with its secrets.",
  params: Type.Object({ id: idOf("a VTPM") }),
  result: Type.Boolean(),
  permission: onId("administrate:delete", "VTPM"),
  changes: true,
  handler: async ({ id }, { objects }) => {
    const { xapi, ref } = objects.get(id, "VTPM");
    await xapi.callAsync("VTPM.destroy", [ref]);
    return true;
  },
});

/** Virtual TPMs of VMs. */
export const vtpmOperations = [vtpmCreate, vtpmDestroy];
