import type { Predicate } from "@xo-server/inventory";

/** Actions that members of a resource set may perform on its objects, to create VMs from them. */
const USE_ACTIONS = [
  "operate:use",
  "operate:attach",
  "operate:store",
  "operate:place",
] as const;

interface SetPrivilege {
  readonly effect: "allow";
  readonly resource: "*";
  readonly action: string;
  readonly selector: Predicate;
}

/** Rights on the objects of resource sets, not on objects they own; their pools are readable. */
export function toSetPrivileges(
  sets: readonly {
    readonly objects: readonly string[];
    readonly pools: readonly string[];
  }[],
): SetPrivilege[] {
  if (sets.length === 0) return [];
  const objects = new Set(sets.flatMap((set) => set.objects));
  const readable = new Set([...objects, ...sets.flatMap((set) => set.pools)]);
  const allow = (action: string, ids: ReadonlySet<string>): SetPrivilege => ({
    effect: "allow",
    resource: "*",
    action,
    selector: isOneOf(ids),
  });
  return [
    allow("read", readable),
    ...USE_ACTIONS.map((action) => allow(action, objects)),
  ];
}

function isOneOf(ids: ReadonlySet<string>): Predicate {
  return (value) => {
    const { id } = Object(value) as { readonly id?: unknown };
    return typeof id === "string" && ids.has(id);
  };
}
