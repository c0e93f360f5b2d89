import type { GroupModel, LocationModel } from "@xo-server/placement";
import type { PlacementRule, Store } from "@xo-server/store";

/** VMs that rules are about, by what names them. */
export interface RuledVms {
  /** Ids of VMs that are there. */
  readonly vms: ReadonlySet<string>;
  readonly byTag: ReadonlyMap<string, readonly string[]>;
  /** Ids of hosts that are there. */
  readonly hosts: ReadonlySet<string>;
}

export interface ModelRules {
  readonly groups: GroupModel[];
  readonly locations: LocationModel[];
}

/** Rules that were made here, as the store has them. XAPI's own come with its objects: see ModelReader. */
export class PlacementRules {
  readonly #store: Pick<Store["placementRules"], "list">;

  constructor(store: Pick<Store["placementRules"], "list">) {
    this.#store = store;
  }

  /** @param pool its id; absent: of all pools */
  list(pool?: string): readonly PlacementRule[] {
    return [...this.#store.list(pool)];
  }

  /** Strict ones that say something about a VM. */
  strictOf(
    pool: string,
    vm: string,
    tags: readonly string[],
  ): readonly PlacementRule[] {
    return this.list(pool).filter(
      (rule) =>
        rule.strict &&
        (rule.tag === undefined
          ? rule.vms?.includes(vm) === true
          : tags.includes(rule.tag)),
    );
  }

  /** Tags by which rules of a pool name VMs. */
  tagsOf(pool: string): ReadonlySet<string> {
    return new Set(this.list(pool).flatMap(({ tag }) => tag ?? []));
  }

  /** As the planner takes them. What is not there any more is left out. */
  toModel(pool: string, ruled: RuledVms): ModelRules {
    const groups: GroupModel[] = [];
    const locations: LocationModel[] = [];
    for (const rule of this.list(pool)) {
      const vms = vmsOf(rule, ruled);
      if (rule.kind === "location") {
        if (vms.length > 0) locations.push(toLocation(rule, vms, ruled));
      } else if (vms.length > 1) groups.push(toGroup(rule, rule.kind, vms));
    }
    return { groups, locations };
  }
}

function vmsOf(
  { tag, vms = [] }: PlacementRule,
  ruled: RuledVms,
): readonly string[] {
  if (tag !== undefined) return ruled.byTag.get(tag) ?? [];
  return [...new Set(vms)].filter((id) => ruled.vms.has(id));
}

function toGroup(
  { id, strict, weight }: PlacementRule,
  kind: GroupModel["kind"],
  vms: readonly string[],
): GroupModel {
  return { id, kind, strict, vms, ...(weight === undefined ? {} : { weight }) };
}

function toLocation(
  { id, strict, score = 1, hosts = [] }: PlacementRule,
  vms: readonly string[],
  ruled: RuledVms,
): LocationModel {
  return {
    id,
    vms,
    score: strict ? Math.sign(score) * Infinity : score,
    hosts: [...new Set(hosts)].filter((host) => ruled.hosts.has(host)),
  };
}
