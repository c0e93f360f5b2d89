import { computed, ref, type ComputedRef, type Ref } from "vue";
import { useObjects } from "../live/use-window.js";
import { useServer } from "../live/use-server.js";
import type { Vdi, Vif } from "../objects/devices.js";
import type { Host, Network, Pool, Sr } from "../objects/infrastructure.js";
import type { ObjectRow } from "../api/object-row.js";
import { namesOf, type Draft } from "./draft.js";
import type { Place } from "./problems.js";

export interface ResourceSet {
  readonly id: string;
  readonly name: string;
  readonly objects: readonly string[];
  readonly limits: Readonly<Record<string, { readonly available: number }>>;
}

type StorageRow = Sr & { readonly allocationStrategy?: string };
type NetworkRow = Network & { readonly automatic?: boolean };

/** Where the VM is made: what there is in its pool, live. */
export function usePlace(draft: Ref<Draft>): {
  readonly place: ComputedRef<Place>;
  readonly pool: ComputedRef<Pool | undefined>;
  readonly hosts: ComputedRef<readonly Host[]>;
  readonly srs: ComputedRef<readonly Sr[]>;
  readonly networks: ComputedRef<readonly NetworkRow[]>;
  readonly isos: ComputedRef<readonly Vdi[]>;
  readonly sets: Ref<readonly ResourceSet[]>;
} {
  const { call, session, whenOpen } = useServer();
  const inPool = () => `$pool:"${draft.value.pool}"`;
  const ofPool = <T>(
    type: string,
    fields: readonly string[],
    filter = () => "",
  ) =>
    useObjects<T>(() =>
      draft.value.pool === ""
        ? undefined
        : {
            type,
            fields,
            limit: 1_000,
            filter: `${inPool()} ${filter()}`.trim(),
            sort: [{ by: "name_label" }],
          },
    ).rows;

  const pools = useObjects<Pool>(() =>
    draft.value.pool === ""
      ? undefined
      : { type: "pool", filter: `id:"${draft.value.pool}"` },
  ).rows;
  const hosts = ofPool<Host>(
    "host",
    ["id", "name_label", "memory", "cpus"],
    () => "enabled? power_state:Running",
  );
  const storage = ofPool<StorageRow>("SR", [
    ...["id", "name_label", "content_type", "size", "physical_usage"],
    ...["shared", "allocationStrategy", "SR_type"],
  ]);
  const networks = ofPool<NetworkRow>("network", [
    ...["id", "name_label", "automatic", "PIFs"],
  ]);
  const isoSrs = computed(() =>
    storage.value.filter(({ content_type }) => content_type === "iso"),
  );
  const isos = useObjects<Vdi>(() =>
    isoSrs.value.length === 0
      ? undefined
      : {
          type: "VDI",
          limit: 2_000,
          filter: `$SR:|(${isoSrs.value.map(({ id }) => `"${id}"`).join(" ")})`,
          fields: ["id", "name_label"],
          sort: [{ by: "name_label" }],
        },
  ).rows;
  const srs = computed(() =>
    storage.value.filter(({ content_type }) => content_type === "user"),
  );

  const same = ofPool<ObjectRow>("VM", ["id", "name_label"], () => {
    // Parts of names: which are the same is seen below.
    const [name = ""] = namesOf(draft.value, 1);
    return `name_label:${JSON.stringify(name.slice(0, 200) || "\u0000")}`;
  });
  const macs = useObjects<Vif>(() => {
    const wanted = draft.value.vifs.filter(({ mac }) => mac.length === 17);
    if (wanted.length === 0) return undefined;
    const filter = `MAC:|(${wanted.map(({ mac }) => JSON.stringify(mac)).join(" ")})`;
    return { type: "VIF", filter, fields: ["id", "MAC"] };
  }).rows;

  const sets = ref<readonly ResourceSet[]>([]);
  whenOpen(() => {
    void call("resourceSet.getAll")
      .then((answer) => {
        sets.value = answer as unknown as ResourceSet[];
      })
      .catch(() => undefined);
  });

  const place = computed<Place>(() => ({
    hosts: hosts.value,
    srs: srs.value.map((sr) => ({
      id: sr.id,
      free: Math.max(0, (sr.size ?? 0) - (sr.physical_usage ?? 0)),
      isThin: sr.allocationStrategy === "thin",
    })),
    defaultSr: pools.value[0]?.default_SR,
    takenNames: new Set(same.value.map(({ name_label = "" }) => name_label)),
    takenMacs: new Set(macs.value.map(({ MAC }) => MAC.toLowerCase())),
    limits:
      sets.value.find(({ id }) => id === draft.value.resourceSet)?.limits ?? {},
    needsSet: session.user.value?.isAdmin === false && sets.value.length > 0,
  }));
  return {
    place,
    hosts,
    srs,
    networks,
    isos,
    sets,
    pool: computed(() => pools.value[0]),
  };
}
