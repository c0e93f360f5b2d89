import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const params = Type.Object({
  id: Type.String({
    minLength: 1,
    description: "Id of an object of any type with tags.",
  }),
  tag: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: "Name of the tag.",
  }),
});

async function changeTags(
  { objects }: Pick<OperationContext, "objects">,
  { id, tag }: { readonly id: string; readonly tag: string },
  verb: "add_tags" | "remove_tags",
): Promise<true> {
  const { xapi, type, ref, object } = objects.get(id);
  if (!Array.isArray(object["tags"]))
    throw new XoError("UNSUPPORTED", {
      what: `a tag of a ${type}`,
      reason: "XAPI has no such field",
    });
  await xapi.call(`${objects.classOf(type)}.${verb}`, [ref, tag]);
  return true;
}

const shared = {
  params,
  result: Type.Boolean(),
  permission: {
    action: "administrate:tags" as const,
    resource: "*",
    id: ({ id }: { id: string }) => id,
  },
  changes: true,
};

const tagAdd = defineOperation({
  ...shared,
  name: "tag.add",
  summary: "Add a tag to an object.",
  handler: (params, context) => changeTags(context, params, "add_tags"),
});

const tagRemove = defineOperation({
  ...shared,
  name: "tag.remove",
  summary: "Remove a tag from an object.",
  handler: (params, context) => changeTags(context, params, "remove_tags"),
});

const tagGetAllConfigured = defineOperation({
  name: "tag.getAllConfigured",
  summary: "List the tags with a configured color.",
  params: Type.Object({}),
  result: Type.Array(
    Type.Object({ id: Type.String(), color: Type.Optional(Type.String()) }),
  ),
  permission: "user",
  handler: (_params, { services }) =>
    [...services.store.settings.list(KEY)].map(([key, value]) => ({
      id: key.slice(KEY.length),
      ...(value as { color?: string }),
    })),
});

const tagSet = defineOperation({
  name: "tag.set",
  summary: "Set the color of a tag; without `color`, remove it.",
  params: Type.Object({
    id: Type.String({
      minLength: 1,
      maxLength: 512,
      description: "Name of the tag.",
    }),
    color: Type.Optional(
      Type.String({
        pattern: "^#[0-9a-fA-F]{6}$",
        description: "Color as #RRGGBB.",
      }),
    ),
  }),
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  handler: async ({ id, color }, { services }) => {
    if (color !== undefined)
      await services.store.settings.set(KEY + id, { color });
    else if (services.store.settings.get(KEY + id) !== undefined)
      await services.store.settings.delete(KEY + id);
    return true;
  },
});

const KEY = "tags/";

/** Colors of tags, stored on the server for all objects. */
export const tagColorOperations = [tagGetAllConfigured, tagSet];

/** Tags of objects of any type that has tags. */
export const tagOperations = [tagAdd, tagRemove];
