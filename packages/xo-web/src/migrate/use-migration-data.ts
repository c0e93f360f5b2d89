import { computed, type ComputedRef, type Ref } from "vue";
import { useObjects } from "../live/use-window.js";
import type { Pif, Vbd, Vdi, Vif } from "../objects/devices.js";
import type { Host, Network, Pool, Sr } from "../objects/infrastructure.js";
import type { ObjectRow } from "../api/object-row.js";
import type { Vm } from "../objects/vm.js";
import type { MigrationContext } from "./rank-hosts.js";
import { usePlacementOrder } from "./use-placement-order.js";
import { anyOf } from "../filters/value-text.js";

type Pbd = ObjectRow & { readonly host?: string; readonly SR?: string };

const unique = (ids: readonly (string | undefined)[]): string[] => [
  ...new Set(ids.filter((id) => id !== undefined)),
];

/** Live objects that a migration depends on. */
export interface MigrationData {
  readonly vms: ComputedRef<readonly Vm[]>;
  readonly context: ComputedRef<MigrationContext>;
  readonly disks: ComputedRef<readonly Vdi[]>;
  readonly vbds: ComputedRef<readonly Vbd[]>;
  readonly vifs: ComputedRef<readonly Vif[]>;
  readonly srs: ComputedRef<readonly Sr[]>;
  readonly networks: ComputedRef<readonly Network[]>;
  readonly pools: ComputedRef<readonly Pool[]>;
  readonly isReady: ComputedRef<boolean>;
}

/**
 * @param ids of the VMs
 * @param poolIds of the pools whose hosts are candidates
 */
export function useMigrationData(
  ids: readonly string[],
  poolIds: () => readonly string[],
): MigrationData {
  const { states: vmStates, ...devices } = useVmDevices(ids);
  const { disks, vifs } = devices;
  const {
    states: poolStates,
    hosts,
    pbds,
    ...pooled
  } = usePoolObjects(poolIds);
  const { rows: pifs } = useObjects<Pif>(() => {
    const networks = unique(vifs.value.map(({ $network }) => $network));
    if (networks.length === 0) return undefined;
    return {
      type: "PIF",
      fields: ["id", "$host", "$network"],
      limit: 5_000,
      filter: `$network:${anyOf(networks)}`,
    };
  });

  const placement = usePlacementOrder(ids);

  const context = computed<MigrationContext>(() => ({
    hosts: hosts.value,
    srsOf: setsBy(pbds.value, "host", "SR"),
    networksOf: setsBy(pifs.value, "$host", "$network"),
    usedSrs: new Set(unique(disks.value.map(({ $SR }) => $SR))),
    usedNetworks: new Set(unique(pifs.value.map((pif) => pif.$network))),
    placementOrder: placement.value ?? [],
  }));
  const isReady = computed(
    () =>
      placement.value !== undefined &&
      [...vmStates, ...poolStates].every(({ value }) => value !== "loading"),
  );
  return { ...devices, ...pooled, context, isReady };
}

/** VMs with their disks and VIFs. */
function useVmDevices(ids: readonly string[]) {
  const { rows: vms, state } = useObjects<Vm>(() => ({
    type: "VM",
    filter: `id:${anyOf(ids)}`,
    fields: [
      "id",
      "type",
      "name_label",
      "$pool",
      "$container",
      "power_state",
      "memory",
      "CPUs",
      "VIFs",
      "$VBDs",
      "now.cpu",
    ],
  }));
  const { rows: vbds, state: vbdState } = useObjects<Vbd>(() => ({
    type: "VBD",
    filter: `VM:${anyOf(ids)} !is_cd_drive?`,
    fields: ["id", "VDI", "VM"],
  }));
  const { rows: disks } = useObjects<Vdi>(() => {
    const vdis = unique(vbds.value.map(({ VDI }) => VDI));
    if (vdis.length === 0) return undefined;
    const fields = ["id", "name_label", "$SR", "size", "usage"];
    return { type: "VDI", filter: `id:${anyOf(vdis)}`, fields };
  });
  const { rows: vifs } = useObjects<Vif>(() => ({
    type: "VIF",
    filter: `$VM:${anyOf(ids)}`,
    fields: ["id", "$network", "device", "MAC", "$VM"],
  }));
  const states: readonly Readonly<Ref<string>>[] = [state, vbdState];
  return { vms, vbds, disks, vifs, states };
}

/** Hosts, storage and networks of some pools, and all pools. */
function usePoolObjects(poolIds: () => readonly string[]) {
  const inPools = () => `$pool:${anyOf(poolIds())}`;
  const { rows: hosts, state } = useObjects<Host>(() => ({
    type: "host",
    filter: inPools(),
    fields: [
      "id",
      "type",
      "name_label",
      "$pool",
      "memory",
      "enabled",
      "power_state",
      "cpus",
      "CPUs",
      "now.cpu",
    ],
    limit: 1_000,
  }));
  const { rows: pbds, state: pbdState } = useObjects<Pbd>(() => ({
    type: "PBD",
    filter: `${inPools()} attached?`,
    fields: ["id", "host", "SR"],
    limit: 10_000,
  }));
  const { rows: srs } = useObjects<Sr>(() => ({
    type: "SR",
    filter: inPools(),
    fields: [
      "id",
      "name_label",
      "$pool",
      "content_type",
      "SR_type",
      "size",
      "physical_usage",
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
  const states: readonly Readonly<Ref<string>>[] = [state, pbdState];
  return { hosts, pbds, srs, networks, pools, states };
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
