import type { ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { secondFactorMissing } from "../auth/second-factor/second-factor-policy.js";
import {
  isAllowed,
  type CallContext,
  type ObjectPermission,
  type Operation,
  type Permission,
} from "./operation.js";

/** The part of an object of the catalog that rights depend on. */
interface CheckedObject {
  readonly type: string;
  /** As clients see it. */
  readonly object: ViewObject;
}

/** An object whose rights are checked. */
export interface RequestedObject {
  readonly id: string;
  /** Undefined: it is not known. */
  readonly entry: CheckedObject | undefined;
  /** The error for an object that is not known, or that the caller may not read. Default: NO_SUCH_OBJECT. */
  readonly missing?: (type: string, id: string) => XoError;
}

const missingByDefault = (type: string, id: string) =>
  new XoError("NO_SUCH_OBJECT", { type, id });

/** @throws XoError UNAUTHORIZED, FORBIDDEN */
export function checkLevel(
  { user, permission: held }: Pick<CallContext, "user" | "permission">,
  permission: Permission,
): void {
  if (isAllowed(held, permission)) return;
  throw user === undefined
    ? new XoError("UNAUTHORIZED", { permission })
    : new XoError("FORBIDDEN", { permission });
}

/** @throws XoError SECOND_FACTOR_REQUIRED: the user must set up a second factor first */
export function checkSetUp(
  { user }: Pick<CallContext, "user">,
  {
    permission,
    isForSetUp = false,
  }: Pick<Operation, "permission" | "isForSetUp">,
): void {
  if (user?.isSetUpOnly !== true || isForSetUp) return;
  if (permission !== "none" && permission !== "guest")
    throw secondFactorMissing();
}

/**
 * Checks a right on an object. An object that the caller may not read is reported
 * as missing.
 * @throws XoError UNAUTHORIZED, NO_SUCH_OBJECT, OBJECTS_LOADING, FORBIDDEN with `missingPrivileges`
 */
export function checkObject(
  { user, permission: held }: Pick<CallContext, "user" | "permission">,
  { action, resource }: Omit<ObjectPermission, "id">,
  { id, entry, missing = missingByDefault }: RequestedObject,
): void {
  const isOne = entry !== undefined && fits(entry.type, resource);
  if (user === undefined) {
    // In the demo, anonymous clients may read every object.
    if (isOne && action === "read" && isAllowed(held, "viewer")) return;
    throw new XoError("UNAUTHORIZED");
  }
  if (isOne && user.isAdmin) return;
  const type = entry?.type ?? resource;
  if (!isOne || !user.rights.may("read", type, entry.object))
    throw missing(resource === "*" ? "object" : resource, id);
  if (user.rights.may(action, type, entry.object)) return;
  throw new XoError("FORBIDDEN", {
    permission: action,
    object: { id, type },
    missingPrivileges: [{ objectId: id, action, resource: type }],
  });
}

function fits(type: string, resource: string): boolean {
  return resource === "*" || type === resource;
}
