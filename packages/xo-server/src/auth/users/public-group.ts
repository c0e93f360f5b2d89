import type { Group, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";

/** A group in the API. */
export const PublicGroup = Type.Object({
  id: Type.String(),
  name: Type.String(),
  users: Type.Array(Type.String(), {
    description: "Ids of the users of the group.",
  }),
  provider: Type.Optional(
    Type.String({
      description: "Identity provider that manages its members, such as ldap.",
    }),
  ),
});
export type PublicGroup = Static<typeof PublicGroup>;

/** A group as clients see it, with the ids of its members. */
export function toPublicGroup(
  { id, name, provider }: Group,
  { groups }: Pick<Store, "groups">,
): PublicGroup {
  return {
    id,
    name,
    users: groups.membersOf(id),
    ...(provider === undefined ? {} : { provider }),
  };
}

export const groupExample = {
  id: "c98395a7-26d8-4e09-b055-d5f0f4a98312",
  name: "operators",
  users: ["722d17b9-699b-49d2-8193-be1ac573d3de"],
};
