import type { GroupModel, HostAffinityModel } from "@xo-server/placement";
import type { PlacementRule, Store } from "@xo-server/store";

/** Objects that rules refer to. */
interface RuleTargets {
  /** Ids of existing VMs. */
  readonly vms: ReadonlySet<string>;
  readonly byTag: ReadonlyMap<string, readonly string[]>;
  /** Ids of existing hosts. */
  readonly hosts: ReadonlySet<string>;
}

interface ModelRules {
  readonly groups: GroupModel[];
  readonly locations: HostAffinityModel[];
}

/**
 * The placement rules in the database. XAPI's own rules are read with its
 * objects: see ModelReader.
 */
export class PlacementRules {
  readonly #store: Pick<Store["placementRules"], "list">;

  constructor(store: Pick<Store["placementRules"], "list">) {
    this.#store = store;
  }

  /** @param pool id of the pool; absent: all pools */
  list(pool?: string): readonly PlacementRule[] {
    return [...this.#store.list(pool)];
  }

  /** Required rules that apply to a VM. */
  requiredRulesOf(
    pool: string,
    vm: string,
    tags: readonly string[],
  ): readonly PlacementRule[] {
    return this.list(pool).filter(
      (rule) =>
        rule.required &&
        (rule.tag === undefined
          ? rule.vms?.includes(vm) === true
          : tags.includes(rule.tag)),
    );
  }

  /** Tags that the rules of a pool refer to. */
  tagsOf(pool: string): ReadonlySet<string> {
    return new Set(this.list(pool).flatMap(({ tag }) => tag ?? []));
  }

  /**
   * Converts rules for the planner. References to objects that no longer exist
   * are left out.
   */
  toModel(pool: string, ruled: RuleTargets): ModelRules {
    const groups: GroupModel[] = [];
    const locations: HostAffinityModel[] = [];
    for (const rule of this.list(pool)) {
      const vms = vmsOf(rule, ruled);
      if (rule.kind === "host-affinity") {
        if (vms.length > 0) locations.push(toHostAffinity(rule, vms, ruled));
      } else if (vms.length > 1) groups.push(toGroup(rule, rule.kind, vms));
    }
    return { groups, locations };
  }
}

function vmsOf(
  { tag, vms = [] }: PlacementRule,
  ruled: RuleTargets,
): readonly string[] {
  if (tag !== undefined) return ruled.byTag.get(tag) ?? [];
  return [...new Set(vms)].filter((id) => ruled.vms.has(id));
}

function toGroup(
  { id, required, weight }: PlacementRule,
  kind: GroupModel["kind"],
  vms: readonly string[],
): GroupModel {
  return {
    id,
    kind,
    required,
    vms,
    ...(weight === undefined ? {} : { weight }),
  };
}

function toHostAffinity(
  { id, required, score = 1, hosts = [] }: PlacementRule,
  vms: readonly string[],
  ruled: RuleTargets,
): HostAffinityModel {
  return {
    id,
    vms,
    score: required ? Math.sign(score) * Infinity : score,
    hosts: [...new Set(hosts)].filter((host) => ruled.hosts.has(host)),
  };
}
