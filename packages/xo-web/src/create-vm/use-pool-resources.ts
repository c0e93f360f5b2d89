import { computed, ref, type ComputedRef, type Ref } from "vue";
import { useObjects } from "../live/use-window.js";
import { useServer } from "../live/use-server.js";
import type { Vdi, Vif } from "../objects/devices.js";
import type { Host, Network, Pool, Sr } from "../objects/infrastructure.js";
import type { ObjectRow } from "../api/object-row.js";
import { namesOf, type Draft } from "./draft.js";
import type { PoolResources } from "./problems.js";
import { anyOf } from "../filters/value-text.js";

export interface UsableSet {
  readonly id: string;
  readonly name: string;
  readonly objects: readonly string[];
  readonly limits: Readonly<Record<string, { readonly available: number }>>;
}

type StorageRow = Sr & { readonly allocationStrategy?: string };
type NetworkRow = Network & { readonly automatic?: boolean };

/** The live objects of the pool that a VM is created in. */
export function usePoolResources(draft: Ref<Draft>): {
  readonly resources: ComputedRef<PoolResources>;
  readonly pool: ComputedRef<Pool | undefined>;
  readonly hosts: ComputedRef<readonly Host[]>;
  readonly srs: ComputedRef<readonly Sr[]>;
  readonly networks: ComputedRef<readonly NetworkRow[]>;
  readonly isos: ComputedRef<readonly Vdi[]>;
  readonly sets: Ref<readonly UsableSet[]>;
} {
  const { session } = useServer();
  const { pool, hosts, networks, srs, isos } = usePoolObjects(draft);
  const { names, macs } = useTakenValues(draft);
  const sets = useResourceSets();

  const resources = computed<PoolResources>(() => ({
    hosts: hosts.value,
    srs: srs.value.map((sr) => ({
      id: sr.id,
      free: Math.max(0, (sr.size ?? 0) - (sr.physical_usage ?? 0)),
      isThin: sr.allocationStrategy === "thin",
    })),
    isPoolKnown: pool.value !== undefined,
    defaultSr: pool.value?.default_SR,
    takenNames: names.value,
    takenMacs: macs.value,
    limits:
      sets.value.find(({ id }) => id === draft.value.resourceSet)?.limits ?? {},
    needsSet: session.user.value?.isAdmin === false && sets.value.length > 0,
  }));
  return { resources, hosts, srs, networks, isos, sets, pool };
}

function objectsOfPool<T>(
  draft: Ref<Draft>,
  type: string,
  fields: readonly string[],
  filter = () => "",
) {
  return useObjects<T>(() =>
    draft.value.pool === ""
      ? undefined
      : {
          type,
          fields,
          limit: 1_000,
          filter: `$pool:"${draft.value.pool}" ${filter()}`.trim(),
          sort: [{ by: "name_label" }],
        },
  ).rows;
}

function usePoolObjects(draft: Ref<Draft>) {
  const pools = useObjects<Pool>(() =>
    draft.value.pool === ""
      ? undefined
      : { type: "pool", filter: `id:"${draft.value.pool}"` },
  ).rows;
  const hosts = objectsOfPool<Host>(
    draft,
    "host",
    ["id", "name_label", "memory", "cpus"],
    () => "enabled? power_state:Running",
  );
  const networks = objectsOfPool<NetworkRow>(draft, "network", [
    "id",
    "name_label",
    "automatic",
    "PIFs",
  ]);
  const storage = objectsOfPool<StorageRow>(draft, "SR", [
    "id",
    "name_label",
    "content_type",
    "size",
    "physical_usage",
    "shared",
    "allocationStrategy",
    "SR_type",
  ]);
  const ofContent = (content: string) =>
    storage.value.filter(({ content_type }) => content_type === content);
  const isos = useObjects<Vdi>(() => {
    const isoSrs = ofContent("iso");
    if (isoSrs.length === 0) return undefined;
    return {
      type: "VDI",
      limit: 2_000,
      filter: `$SR:${anyOf(isoSrs.map(({ id }) => id))}`,
      fields: ["id", "name_label"],
      sort: [{ by: "name_label" }],
    };
  }).rows;
  return {
    hosts,
    networks,
    isos,
    pool: computed(() => pools.value[0]),
    srs: computed(() => ofContent("user")),
  };
}

/** Names and MAC addresses of existing VMs that could be the same as those of the draft. */
function useTakenValues(draft: Ref<Draft>) {
  const namesakes = objectsOfPool<ObjectRow>(
    draft,
    "VM",
    ["id", "name_label"],
    () => {
      // The filter matches parts of names: the draft is compared with whole names later.
      const [name = ""] = namesOf(draft.value, 1);
      return `name_label:${JSON.stringify(name.slice(0, 200) || "\u0000")}`;
    },
  );
  const vifs = useObjects<Vif>(() => {
    const typed = draft.value.vifs.filter(({ mac }) => mac.length === 17);
    if (typed.length === 0) return undefined;
    const filter = `MAC:${anyOf(typed.map(({ mac }) => mac))}`;
    return { type: "VIF", filter, fields: ["id", "MAC"] };
  }).rows;
  return {
    names: computed(
      () => new Set(namesakes.value.map(({ name_label = "" }) => name_label)),
    ),
    macs: computed(
      () => new Set(vifs.value.map(({ MAC }) => MAC.toLowerCase())),
    ),
  };
}

function useResourceSets(): Ref<readonly UsableSet[]> {
  const { call, whenOpen } = useServer();
  const sets = ref<readonly UsableSet[]>([]);
  whenOpen(() => {
    void call("resourceSet.getAll")
      .then((answer) => {
        sets.value = answer as unknown as UsableSet[];
      })
      // Without resource sets the form has no field for them.
      .catch(() => undefined);
  });
  return sets;
}
