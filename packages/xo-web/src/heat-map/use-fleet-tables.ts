import { computed, type ComputedRef } from "vue";
import { useColumns } from "../live/use-columns.js";
import type { FleetScope, FleetTables } from "./fleet-tree.js";
import type { HeatMetric } from "./heat-scale.js";

/** Above this number of VMs no names are fetched: they would not be readable on the map. */
const MAX_NAMES = 2_000;
const NAMES_MS = 30_000;

/** Live tables of the objects on the map. */
export function useFleetTables(
  metric: () => HeatMetric,
  scope: () => FleetScope,
): {
  /** Undefined: not loaded completely. */
  tables: ComputedRef<FleetTables | undefined>;
  names: ComputedRef<ReadonlyMap<string, string>>;
  error: ComputedRef<string | undefined>;
} {
  const pools = useColumns(
    () => ({ type: "pool", paths: ["name_label"] }),
    30_000,
  );
  const hosts = useColumns(() => ({
    type: "host",
    paths: ["name_label", "$pool", "memory.size", `now.${metric()}`],
  }));
  const vms = useColumns(() => ({
    type: "VM",
    paths: [
      "power_state",
      "$container",
      "$pool",
      "CPUs.number",
      "memory.size",
      `now.${metric()}`,
    ],
  }));
  const shown = computed(() => countIn(vms.table.value, scope()));
  const named = useColumns(() => {
    const { pool, host } = scope();
    if (shown.value === 0 || shown.value > MAX_NAMES) return undefined;
    return {
      type: "VM",
      paths: ["name_label"],
      ...(host === undefined && pool === undefined
        ? {}
        : { filter: host ? `$container:${host}` : `$pool:${pool ?? ""}` }),
    };
  }, NAMES_MS);
  return {
    tables: computed(() =>
      pools.table.value && hosts.table.value && vms.table.value
        ? {
            pools: pools.table.value,
            hosts: hosts.table.value,
            vms: vms.table.value,
          }
        : undefined,
    ),
    names: computed(() => {
      const table = named.table.value;
      const names = table?.values("name_label") ?? [];
      return new Map(
        (table?.ids ?? []).map((id, i) => [id, String(names[i] ?? "")]),
      );
    }),
    error: computed(() => vms.error.value ?? hosts.error.value),
  };
}

function countIn(
  vms: FleetTables["vms"] | undefined,
  { pool, host }: FleetScope,
): number {
  if (vms === undefined) return 0;
  const requested = host ?? pool;
  if (requested === undefined) return vms.length;
  const path = host === undefined ? "$pool" : "$container";
  return vms.values(path).filter((value) => value === requested).length;
}
