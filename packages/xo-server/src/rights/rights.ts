import {
  compileFilter,
  parseFilter,
  unionOfFields,
  type Predicate,
  type ViewObject,
} from "@xo-server/inventory";
import { ownerFieldsOf, ownersOf, type ObjectFinder } from "./owners.js";
import { coversAction, coversResource, type Privilege } from "./privilege.js";

/** A set of objects: all, none, or those that match a predicate. */
export type Extent = "all" | "none" | Predicate;

/**
 * What a user may do, according to the privileges of all their roles. `deny` takes
 * precedence over `allow`, and also denies the objects that belong to the denied
 * object: snapshots, VBDs, VIFs and disks of a VM. Everything else is not allowed.
 * Selectors are compiled once. Extents are computed once per (action, resource) and
 * keep their identity, so that subscribers with the same rights share encodings.
 */
export class Rights {
  static readonly none = new Rights([]);
  static readonly all = new Rights([
    { effect: "allow", resource: "*", action: "*" },
  ]);

  readonly #privileges: readonly CompiledPrivilege[];
  readonly #find: ObjectFinder;
  readonly #extents = new Map<string, Extent>();

  /**
   * @param find finds the owners of objects. Default: there are none
   * @throws XoError FILTER_INVALID for a selector that is not a valid filter
   */
  constructor(
    privileges: readonly SelectingPrivilege[],
    find: ObjectFinder = () => undefined,
  ) {
    this.#privileges = privileges.map(compile);
    this.#find = find;
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
    return contains(this.extent(action, resource), object);
  }

  #toExtent(action: string, resource: string): Extent {
    const allowed = union(this.#extentsOf("allow", action, resource));
    const denied = union([
      ...this.#extentsOf("deny", action, resource),
      ...this.#deniedByOwners(action, resource),
    ]);
    return without(allowed, denied);
  }

  #extentsOf(
    effect: Privilege["effect"],
    action: string,
    resource: string,
  ): Extent[] {
    return this.#privileges
      .filter(
        (one) =>
          one.effect === effect &&
          coversAction(one.action, action) &&
          coversResource(one.resource, resource),
      )
      .map(({ extent }) => extent);
  }

  /** Objects with a denied owner, if there is a `deny` for VMs. */
  #deniedByOwners(action: string, resource: string): Extent[] {
    const fields = ownerFieldsOf(resource);
    const deniedVms = new Map(
      vmTypes.map((type) => [
        type,
        union(this.#extentsOf("deny", action, type)),
      ]),
    );
    const isNone = [...deniedVms.values()].every((one) => one === "none");
    if (fields.length === 0 || isNone) return [];
    const isDenied = (type: string, object: ViewObject, depth = 0): boolean =>
      ownersOf(type, object, this.#find).some(
        (owner) =>
          contains(deniedVms.get(owner.type) ?? "none", owner.object) ||
          (depth < MAX_DEPTH && isDenied(owner.type, owner.object, depth + 1)),
      );
    const test = (object: unknown) => isDenied(resource, object as ViewObject);
    return [withFields(test, fields)];
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
  return compileFilter(parseFilter(selector));
}

/** Types for which a `deny` also applies to dependent objects. */
const vmTypes = ["VM", "VM-template", "VM-snapshot"];

/** Maximum number of owners in a chain: disk of a snapshot, VBD, snapshot, VM. */
const MAX_DEPTH = 4;

function contains(extent: Extent, object: ViewObject): boolean {
  return typeof extent === "function" ? extent(object) : extent === "all";
}

function union(all: readonly Extent[]): Extent {
  const extents = new Set(all);
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
