import type { Privilege, Role, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { builtInRoles } from "../../rights/built-in-roles.js";

/** A role in the API. */
export const PublicRole = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  isTemplate: Type.Optional(Type.Boolean()),
});
export type PublicRole = Static<typeof PublicRole>;

/** A privilege of a role in the API. */
export const PublicPrivilege = Type.Object({
  id: Type.String(),
  roleId: Type.String(),
  effect: Type.String(),
  resource: Type.String(),
  action: Type.String(),
  selector: Type.Optional(Type.Unknown()),
});
export type PublicPrivilege = Static<typeof PublicPrivilege>;

/** A role as clients see it. */
export function toPublicRole(role: Role): PublicRole {
  const { id, name, description, isTemplate } = role;
  return {
    id,
    name,
    ...(description === "" ? {} : { description }),
    ...(isTemplate ? { isTemplate } : {}),
  };
}

/** Privileges of built-in roles are part of the program, not of the store. */
export function privilegesOf(
  { id, name, isTemplate }: Role,
  { privileges }: Pick<Store, "privileges">,
): Privilege[] {
  if (!isTemplate) return [...privileges.ofRole(id)];
  const builtIn = builtInRoles.find((role) => role.name === name);
  return (builtIn?.privileges ?? []).map((privilege, index) => ({
    id: `${id}-${index}`,
    roleId: id,
    ...privilege,
  }));
}

export const roleExample = {
  id: "93cdeb2a-70d6-4e1d-9a2c-1c2b3f6e7a10",
  name: "operator",
  isTemplate: true,
};

export const privilegeExample = {
  id: "1f2a5c0e-6e0d-4a5b-8c39-0f6d5f9f9f0a",
  roleId: "93cdeb2a-70d6-4e1d-9a2c-1c2b3f6e7a10",
  effect: "allow",
  resource: "VM",
  action: "operate",
  selector: "tags:prod",
};
