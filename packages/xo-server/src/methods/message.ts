import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import { idOf, onId } from "./on-object.js";

/** What pools tell of their objects, alarms too. */
export function messageMethods(objects: PoolObjects): Operation[] {
  return [
    defineOperation({
      name: "message.delete",
      summary: "Deletes a message of a pool.",
      params: Type.Object({ id: idOf("a message") }),
      result: Type.Boolean(),
      permission: onId("administrate:delete", "message"),
      changes: true,
      handler: async ({ id }) => {
        const { xapi, ref } = objects.get(id, "message");
        await xapi.call("message.destroy", [ref]);
        return true;
      },
    }),
  ];
}
