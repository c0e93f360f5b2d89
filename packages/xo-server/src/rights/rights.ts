import {
  compileFilter,
  filterFields,
  parseFilter,
  unionOfFields,
  type Predicate,
  type ViewObject,
} from "@xo-server/inventory";
import { coversAction, coversResource, type Privilege } from "./privilege.js";

/** A set of objects: all, none, or those that match a predicate. */
export type Extent = "all" | "none" | Predicate;

/**
 * What a user may do, from the privileges of all their roles. `deny` takes
 * precedence over `allow`; the default is not allowed. Selectors are compiled once.
 * Extents are computed once per (action, resource) and keep their identity, so that
 * subscribers with the same rights share encodings.
 */
export class Rights {
  static readonly none = new Rights([]);
  static readonly all = new Rights([
    { effect: "allow", resource: "*", action: "*" },
  ]);

  readonly #privileges: readonly CompiledPrivilege[];
  readonly #extents = new Map<string, Extent>();

  /** @throws XoError FILTER_INVALID for a selector that is not a valid filter */
  constructor(privileges: readonly SelectingPrivilege[]) {
    this.#privileges = privileges.map(compile);
  }

  extent(action: string, resource: string): Extent {
    const key = `${action} ${resource}`;
    let extent = this.#extents.get(key);
    if (extent === undefined) {
      extent = this.#toExtent(action, resource);
      this.#extents.set(key, extent);
    }
    return extent;
  }

  may(action: string, resource: string, object: ViewObject): boolean {
    const extent = this.extent(action, resource);
    return typeof extent === "function" ? extent(object) : extent === "all";
  }

  #toExtent(action: string, resource: string): Extent {
    const fitting = this.#privileges.filter(
      (one) =>
        coversAction(one.action, action) &&
        coversResource(one.resource, resource),
    );
    const allowed = union(fitting.filter(({ effect }) => effect === "allow"));
    const denied = union(fitting.filter(({ effect }) => effect === "deny"));
    return without(allowed, denied);
  }
}

/** A privilege; its selector may be compiled. */
export interface SelectingPrivilege extends Omit<Privilege, "selector"> {
  readonly selector?: string | Predicate;
}

interface CompiledPrivilege extends SelectingPrivilege {
  readonly extent: Extent;
}

function compile(privilege: SelectingPrivilege): CompiledPrivilege {
  return { ...privilege, extent: toExtent(privilege.selector) };
}

function toExtent(selector: string | Predicate = ""): Extent {
  if (typeof selector === "function") return selector;
  if (selector.trim() === "") return "all";
  const filter = parseFilter(selector);
  return withFields(compileFilter(filter), filterFields(filter));
}

function union(privileges: readonly CompiledPrivilege[]): Extent {
  const extents = new Set(privileges.map(({ extent }) => extent));
  if (extents.has("all")) return "all";
  const tests = [...extents].filter((one) => typeof one === "function");
  if (tests.length === 0) return "none";
  if (tests.length === 1) return tests[0]!;
  return withFields(
    (object) => tests.some((test) => test(object)),
    unionOfFields(tests.map(({ fields }) => fields)),
  );
}

function without(allowed: Extent, denied: Extent): Extent {
  if (allowed === "none" || denied === "all") return "none";
  if (denied === "none") return allowed;
  if (allowed === "all")
    return withFields((object) => !denied(object), denied.fields);
  return withFields(
    (object) => allowed(object) && !denied(object),
    unionOfFields([allowed.fields, denied.fields]),
  );
}

/** Declares which fields of an object the predicate reads. */
function withFields(
  test: Predicate,
  fields: readonly string[] | undefined,
): Predicate {
  return Object.assign((value: unknown) => test(value), { fields });
}
