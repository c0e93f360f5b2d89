import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import { idOf, idOfMade, onId } from "./on-object.js";

/** Chips that keep secrets for VMs. */
export function vtpmMethods(objects: PoolObjects): Operation[] {
  return [
    defineOperation({
      name: "vtpm.create",
      summary: "Gives a halted VM a TPM; the VTPM's id.",
      params: Type.Object({ id: idOf("a VM") }),
      result: Type.String(),
      permission: onId("administrate:create-vtpm", "VM"),
      changes: true,
      handler: async ({ id }) => {
        const { xapi, ref } = objects.get(id, "VM");
        const made = await xapi.callAsync("VTPM.create", [ref, false]);
        return idOfMade(objects, xapi, { type: "VTPM", ref: made });
      },
    }),
    defineOperation({
      name: "vtpm.destroy",
      summary: "Takes a TPM from a halted VM, with the secrets that it keeps.",
      params: Type.Object({ id: idOf("a VTPM") }),
      result: Type.Boolean(),
      permission: onId("administrate:delete", "VTPM"),
      changes: true,
      handler: async ({ id }) => {
        const { xapi, ref } = objects.get(id, "VTPM");
        await xapi.callAsync("VTPM.destroy", [ref]);
        return true;
      },
    }),
  ];
}
