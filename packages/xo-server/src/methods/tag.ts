import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";

const params = Type.Object({
  id: Type.String({ minLength: 1, description: "Of any object with tags." }),
  tag: Type.String({ minLength: 1, maxLength: 1024 }),
});

/** Tags of any object that XAPI lets have some. */
export function tagMethods(objects: PoolObjects): Operation[] {
  const change =
    (verb: "add_tags" | "remove_tags") =>
    async ({ id, tag }: { id: string; tag: string }) => {
      const { xapi, type, ref, object } = objects.get(id);
      if (!Array.isArray(object["tags"]))
        throw new XoError("UNSUPPORTED", {
          what: `a tag of a ${type}`,
          reason: "XAPI keeps none",
        });
      await xapi.call(`${objects.classOf(type)}.${verb}`, [ref, tag]);
      return true;
    };
  const shared = {
    params,
    result: Type.Boolean(),
    permission: {
      action: "administrate:tags",
      resource: "*",
      id: ({ id }: { id: string }) => id,
    },
    changes: true,
  };
  return [
    defineOperation({
      ...shared,
      name: "tag.add",
      summary: "Gives an object a tag.",
      handler: change("add_tags"),
    }),
    defineOperation({
      ...shared,
      name: "tag.remove",
      summary: "Takes a tag from an object.",
      handler: change("remove_tags"),
    }),
  ];
}
