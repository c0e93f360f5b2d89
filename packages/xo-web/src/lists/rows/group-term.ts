import { formatFilter, type Filter } from "@xo-server/filter";
import { filterNames } from "../../filters/properties.js";
import { systemName } from "../../objects/system-name.js";

/** A group as query.group returns it; without a key: objects without that property. */
export interface Group {
  readonly key?: unknown;
  readonly count: number;
}

/** Stays the same for the same group in every response. */
export function groupIdOf({ key }: Group): string {
  return key === undefined ? "" : JSON.stringify(key);
}

const SYSTEM = "os_version.name";

/**
 * The groups as a list shows them: groups of guest systems with the same displayed
 * name are merged.
 */
export function listedGroups(
  path: string,
  groups: readonly Group[],
): readonly Group[] {
  if (path !== SYSTEM) return groups;
  const merged = new Map<string, Group>();
  for (const { key, count } of groups) {
    const group =
      typeof key === "string" ? { key: systemName(key), count } : { count };
    const id = groupIdOf(group);
    const before = merged.get(id)?.count ?? 0;
    merged.set(id, { ...group, count: before + count });
  }
  return [...merged.values()];
}

/** The filter that only objects of a group match. */
export function groupTerm(path: string, key: unknown): string {
  return formatFilter(within(path, key));
}

function within(path: string, key: unknown): Filter {
  const names = filterNames(path);
  const last = names.at(-1)!;
  if (path === SYSTEM && typeof key === "string")
    return nest(names, expression(`^${escaped(key)}(\\||$)`));
  if (typeof key === "boolean") {
    const truthy: Filter = { kind: "truthy", name: last };
    const nested = nest(names.slice(0, -1), truthy);
    return key ? nested : { kind: "not", term: nested };
  }
  if (key === undefined || key === null)
    return { kind: "not", term: nest(names, expression(".")) };
  return nest(names, termOf(key));
}

function termOf(key: unknown): Filter {
  if (typeof key === "number")
    return {
      kind: "and",
      terms: [
        { kind: "compare", operator: ">=", number: key },
        { kind: "compare", operator: "<=", number: key },
      ],
    };
  const text = typeof key === "string" ? key : JSON.stringify(key);
  // A part of an id identifies the object; other texts must match completely: `db` is not `db-old`.
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text)
    ? { kind: "text", text }
    : expression(`^${escaped(text)}$`);
}

function escaped(text: string): string {
  return text.replace(/[^\w\s-]/g, "\\$&");
}

function expression(source: string): Filter {
  return { kind: "regex", source, ignoreCase: false };
}

function nest(names: readonly string[], term: Filter): Filter {
  return names.reduceRight<Filter>(
    (inner, name) => ({ kind: "property", name, term: inner }),
    term,
  );
}

/** Properties that objects of a type can be grouped by. */
const pathsBy: Readonly<Record<string, readonly GroupPath[]>> = {
  VM: [
    "$container",
    "$pool",
    "power_state",
    "os_version.name",
    "tags",
    "folder",
  ],
  "VM-template": ["$pool", "isDefaultTemplate", "tags", "folder"],
  "VM-snapshot": ["$snapshot_of", "$pool", "tags"],
  host: ["$pool", "version", "power_state", "tags"],
  SR: ["SR_type", "$pool", "shared", "tags"],
  VDI: ["$SR", "VDI_type", "$pool", "tags"],
  network: ["$pool", "bridge", "tags"],
  PIF: ["$host", "$network", "$pool"],
  message: ["name", "$pool"],
};

/** Types of the objects that name the groups of a property. */
const namedBy: Readonly<Record<string, readonly string[]>> = {
  $container: ["host", "pool"],
  $pool: ["pool"],
  $SR: ["SR"],
  $host: ["host"],
  $network: ["network"],
  $snapshot_of: ["VM"],
};

type GroupPath =
  keyof import("../../locale/messages.js").Messages["lists"]["group"]["properties"];

/** Properties by which objects of a type can be grouped. */
export function groupPathsOf(type: string): readonly GroupPath[] {
  return (Object.hasOwn(pathsBy, type) && pathsBy[type]) || [];
}

/**
 * Types of the objects that the values of this property refer to; none: the
 * values are shown as they are.
 */
export function groupTypesOf(path: string): readonly string[] {
  return (Object.hasOwn(namedBy, path) && namedBy[path]) || [];
}
