import type { Predicate } from "@xo-server/inventory";

/** Of the older kind of rights: what each level lets one do. */
export const aclLevels: Readonly<Record<string, readonly string[]>> = {
  viewer: ["read"],
  operator: ["read", "operate"],
  admin: ["*"],
};

/** What an object belongs to, so that a right on that is one on the object, as in Xen Orchestra. */
const OWNER_FIELDS = [
  "id",
  "$pool",
  "$container",
  "$host",
  "$SR",
  "$network",
  "$VM",
  "VM",
  "VDI",
  "$object",
  "$snapshot_of",
] as const;

/** A privilege whose selector is a test already. */
export interface AclPrivilege {
  readonly effect: "allow";
  readonly resource: "*";
  readonly action: string;
  readonly selector: Predicate;
}

/** Rights on single objects, and on what belongs to them, as privileges: one an action, however many objects there are. */
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
