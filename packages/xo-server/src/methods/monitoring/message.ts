import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";

const messageDelete = defineOperation({
  name: "message.delete",
  summary: "Delete a message of a pool.",
  params: Type.Object({ id: idOf("a message") }),
  result: Type.Boolean(),
  permission: onId("administrate:delete", "message"),
  changes: true,
  handler: async ({ id }, { objects }) => {
    const { xapi, ref } = objects.get(id, "message");
    await xapi.call("message.destroy", [ref]);
    return true;
  },
});

/** Messages of pools, including alarms. */
export const messageOperations = [messageDelete];
