import { computed, type ComputedRef } from "vue";
import { useObjects } from "../live/use-window.js";
import type { Pif, Vbd, Vdi, Vif } from "../objects/devices.js";
import type { Host, Network, Pool, Sr } from "../objects/infrastructure.js";
import type { ObjectRow } from "../api/object-row.js";
import type { Vm } from "../objects/vm.js";
import type { Surroundings } from "./rank-hosts.js";

type Pbd = ObjectRow & { readonly host?: string; readonly SR?: string };

const anyOf = (ids: readonly string[]) =>
  `|(${ids.map((id) => `"${id}"`).join(" ")})`;
const withIds = (ids: readonly string[]) =>
  `|(${ids.map((id) => `id:"${id}"`).join(" ")})`;
const unique = (ids: readonly (string | undefined)[]): string[] => [
  ...new Set(ids.filter((id) => id !== undefined)),
];

export interface Around {
  readonly vms: ComputedRef<readonly Vm[]>;
  readonly surroundings: ComputedRef<Surroundings>;
  readonly disks: ComputedRef<readonly Vdi[]>;
  readonly vbds: ComputedRef<readonly Vbd[]>;
  readonly vifs: ComputedRef<readonly Vif[]>;
  readonly srs: ComputedRef<readonly Sr[]>;
  readonly networks: ComputedRef<readonly Network[]>;
  readonly pools: ComputedRef<readonly Pool[]>;
  readonly isReady: ComputedRef<boolean>;
}

/**
 * Where VMs could go, live.
 * @param wantedPools ids of the pools whose hosts are looked at
 */
export function useSurroundings(
  ids: readonly string[],
  wantedPools: () => readonly string[],
): Around {
  const { rows: vms, state } = useObjects<Vm>(() => ({
    type: "VM",
    filter: withIds(ids),
    fields: [
      ...["id", "type", "name_label", "$pool", "$container", "power_state"],
      ...["memory", "CPUs", "VIFs", "$VBDs", "now.cpu"],
    ],
  }));
  const inPools = () => `$pool:${anyOf(wantedPools())}`;
  const { rows: hosts, state: hostState } = useObjects<Host>(() => ({
    type: "host",
    filter: inPools(),
    fields: [
      ...["id", "type", "name_label", "$pool", "memory", "enabled"],
      ...["power_state", "cpus", "CPUs", "now.cpu"],
    ],
    limit: 1_000,
  }));
  const { rows: pbds, state: pbdState } = useObjects<Pbd>(() => ({
    type: "PBD",
    filter: `${inPools()} attached?`,
    fields: ["id", "host", "SR"],
    limit: 10_000,
  }));
  const { rows: vbds, state: vbdState } = useObjects<Vbd>(() => ({
    type: "VBD",
    filter: `VM:${anyOf(ids)} !is_cd_drive?`,
    fields: ["id", "VDI", "VM"],
  }));
  const { rows: disks } = useObjects<Vdi>(() => {
    const wanted = unique(vbds.value.map(({ VDI }) => VDI));
    if (wanted.length === 0) return undefined;
    const fields = ["id", "name_label", "$SR", "size", "usage"];
    return { type: "VDI", filter: withIds(wanted), fields };
  });
  const { rows: vifs } = useObjects<Vif>(() => ({
    type: "VIF",
    filter: `$VM:${anyOf(ids)}`,
    fields: ["id", "$network", "device", "MAC", "$VM"],
  }));
  const { rows: pifs } = useObjects<Pif>(() => {
    const wanted = unique(vifs.value.map(({ $network }) => $network));
    if (wanted.length === 0) return undefined;
    const fields = ["id", "$host", "$network"];
    return {
      type: "PIF",
      fields,
      limit: 5_000,
      filter: `$network:${anyOf(wanted)}`,
    };
  });
  const { rows: srs } = useObjects<Sr>(() => ({
    type: "SR",
    filter: inPools(),
    fields: [
      ...["id", "name_label", "$pool", "content_type", "SR_type"],
      ...["size", "physical_usage"],
    ],
    limit: 1_000,
  }));
  const { rows: networks } = useObjects<Network>(() => ({
    type: "network",
    filter: inPools(),
    fields: ["id", "name_label", "$pool"],
    sort: [{ by: "name_label" }],
  }));
  const { rows: pools } = useObjects<Pool>(() => ({
    type: "pool",
    fields: ["id", "name_label", "default_SR", "master"],
    sort: [{ by: "name_label" }],
  }));

  const surroundings = computed<Surroundings>(() => ({
    hosts: hosts.value,
    srsOf: setsBy(pbds.value, "host", "SR"),
    networksOf: setsBy(pifs.value, "$host", "$network"),
    usedSrs: new Set(unique(disks.value.map(({ $SR }) => $SR))),
    usedNetworks: new Set(unique(pifs.value.map((pif) => pif.$network))),
  }));
  const isReady = computed(() =>
    [state, hostState, pbdState, vbdState].every(
      (one) => one.value !== "loading",
    ),
  );
  return {
    vms,
    surroundings,
    disks,
    vbds,
    vifs,
    srs,
    networks,
    pools,
    isReady,
  };
}

function setsBy<K extends string>(
  rows: readonly Readonly<Partial<Record<K, unknown>>>[],
  key: K,
  value: K,
): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>();
  for (const row of rows) {
    const [from, to] = [row[key], row[value]];
    if (typeof from !== "string" || typeof to !== "string") continue;
    const set = sets.get(from) ?? new Set();
    sets.set(from, set.add(to));
  }
  return sets;
}
