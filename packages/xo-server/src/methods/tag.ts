import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
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

/** Colours of tags, by the tag. They are the server's, whatever has the tag. */
export function tagColorMethods(settings: TagStore): Operation[] {
  return [
    defineOperation({
      name: "tag.getAllConfigured",
      summary: "Tags that have a colour.",
      params: Type.Object({}),
      result: Type.Array(
        Type.Object({ id: Type.String(), color: Type.Optional(Type.String()) }),
      ),
      permission: "user",
      handler: () =>
        [...settings.list(KEY)].map(([key, value]) => ({
          id: key.slice(KEY.length),
          ...(value as { color?: string }),
        })),
    }),
    defineOperation({
      name: "tag.set",
      summary: "Gives a tag a colour; without one, takes it away.",
      params: Type.Object({
        id: Type.String({ minLength: 1, maxLength: 512 }),
        color: Type.Optional(Type.String({ pattern: "^#[0-9a-fA-F]{6}$" })),
      }),
      result: Type.Boolean(),
      permission: "admin",
      changes: true,
      handler: async ({ id, color }) => {
        if (color !== undefined) await settings.set(KEY + id, { color });
        else if (settings.get(KEY + id) !== undefined)
          await settings.delete(KEY + id);
        return true;
      },
    }),
  ];
}

export type TagStore = Pick<
  Store["settings"],
  "get" | "set" | "delete" | "list"
>;

const KEY = "tags/";
