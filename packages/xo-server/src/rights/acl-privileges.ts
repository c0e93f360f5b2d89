import type { Predicate } from "@xo-server/inventory";

/** Actions of each ACL level (Xen Orchestra's older rights). */
const aclLevels: Readonly<Record<string, readonly string[]>> = {
  viewer: ["read"],
  operator: ["read", "operate"],
  admin: ["*"],
};

/**
 * Fields with the owners of an object: a right on an owner includes the object.
 * VIFs and VBDs belong to their VM only. A right on a network or an ISO image,
 * which users need for their own VMs, must not be a right on the devices of other
 * VMs.
 */
const OWNER_FIELDS = [
  "id",
  "$pool",
  "$container",
  "$host",
  "$SR",
  "$VM",
  "VM",
  "$object",
  "$snapshot_of",
] as const;

/** A privilege with a compiled selector. */
interface AclPrivilege {
  readonly effect: "allow";
  readonly resource: "*";
  readonly action: string;
  readonly selector: Predicate;
}

/** ACLs on objects, and on the objects they own, as privileges: one per action, for any number of objects. */
export function toAclPrivileges(
  acls: Iterable<{ readonly object: string; readonly action: string }>,
): AclPrivilege[] {
  const objects = new Map<string, Set<string>>();
  for (const { object, action: level } of acls)
    for (const action of aclLevels[level] ?? []) {
      const ids = objects.get(action) ?? new Set();
      objects.set(action, ids.add(object));
    }
  return [...objects].map(([action, ids]) => ({
    effect: "allow",
    resource: "*",
    action,
    selector: belongsTo(ids),
  }));
}

function belongsTo(ids: ReadonlySet<string>): Predicate {
  const test = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null) return false;
    const object = value as Readonly<Record<string, unknown>>;
    return OWNER_FIELDS.some((field) => {
      const id = object[field];
      return typeof id === "string" && ids.has(id);
    });
  };
  return Object.assign(test, { fields: OWNER_FIELDS });
}
