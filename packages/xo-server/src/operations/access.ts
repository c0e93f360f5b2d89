import type { CatalogEntry, ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import {
  isAllowed,
  type CallContext,
  type ObjectPermission,
  type Permission,
} from "./operation.js";

/** An object by its id. */
export type FindObject = (id: string) => CatalogEntry | undefined;

/** @throws XoError UNAUTHORIZED, FORBIDDEN */
export function checkLevel(
  { user: person, permission: held }: CallContext,
  permission: Permission,
): void {
  if (isAllowed(held, permission)) return;
  throw person === undefined
    ? new XoError("UNAUTHORIZED", { permission })
    : new XoError("FORBIDDEN", { permission });
}

/**
 * What somebody may not even read is not there for them.
 * @throws XoError UNAUTHORIZED, NO_SUCH_OBJECT, FORBIDDEN with `missingPrivileges`
 */
export function checkObject(
  { user: person, permission: held }: CallContext,
  { action, resource }: Omit<ObjectPermission, "id">,
  found: { readonly id: string; readonly entry: CatalogEntry | undefined },
): void {
  const { id, entry } = found;
  const isOne = entry !== undefined && fits(entry.type, resource);
  if (person === undefined) {
    // Who looks at the demo reads what there is.
    if (isOne && action === "read" && isAllowed(held, "viewer")) return;
    throw new XoError("UNAUTHORIZED");
  }
  if (isOne && person.isAdmin) return;
  const object = isOne
    ? (JSON.parse(entry.json.toString()) as ViewObject)
    : undefined;
  const type = entry?.type ?? resource;
  if (object === undefined || !person.rights.may("read", type, object))
    throw new XoError("NO_SUCH_OBJECT", {
      type: resource === "*" ? "object" : resource,
      id,
    });
  if (person.rights.may(action, type, object)) return;
  throw new XoError("FORBIDDEN", {
    permission: action,
    object: { id, type },
    missingPrivileges: [{ objectId: id, action, resource: type }],
  });
}

function fits(type: string, resource: string): boolean {
  return resource === "*" || type === resource;
}
