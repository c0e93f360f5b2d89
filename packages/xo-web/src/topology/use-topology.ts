import { computed } from "vue";
import { useObjects } from "../live/use-window.js";
import { toCabling } from "./cabling.js";
import {
  hostFields,
  networkFields,
  pifFields,
  type HostRow,
  type NetworkRow,
  type PifRow,
} from "./rows.js";
import { findingsOf } from "./findings.js";
import { placeVms } from "./placement.js";
import { useColumns } from "./use-columns.js";

/** Maximum number of hosts of a pool, and of interfaces in a window. */
const MAX_OBJECTS = { host: 500, network: 2_000, PIF: 10_000 } as const;

/** The cabling of a pool with its VMs, live. Undefined: no pool. */
export function useTopology(pool: () => string | undefined) {
  const window = <T>(
    type: keyof typeof MAX_OBJECTS,
    fields: readonly string[],
  ) =>
    useObjects<T>(() => {
      const id = pool();
      if (id === undefined) return undefined;
      return { type, fields, filter: `$pool:${id}`, limit: MAX_OBJECTS[type] };
    });
  const columns = (type: string, paths: readonly string[]) =>
    useColumns(() => {
      const id = pool();
      return id === undefined
        ? undefined
        : { type, paths, filter: `$pool:${id}` };
    });
  const hosts = window<HostRow>("host", hostFields);
  const networks = window<NetworkRow>("network", networkFields);
  const pifs = window<PifRow>("PIF", pifFields);
  const vms = columns("VM", ["name_label", "power_state", "$container"]);
  const vifs = columns("VIF", ["$VM", "$network"]);
  const windows = [hosts, networks, pifs];

  const cabling = computed(() =>
    toCabling({
      hosts: hosts.rows.value,
      networks: networks.rows.value,
      pifs: pifs.rows.value,
    }),
  );
  return {
    /** All parts in one value, so that they are of the same moment. */
    diagram: computed(() => ({
      cabling: cabling.value,
      findings: findingsOf(cabling.value),
      names: new Map(
        [...hosts.rows.value, ...networks.rows.value].map((one) => [
          one.id,
          one.name_label ?? one.id.slice(0, 8),
        ]),
      ),
    })),
    /** By id of the network. */
    vms: computed(() =>
      placeVms(
        vms.table.value,
        vifs.table.value,
        new Set(hosts.rows.value.map(({ id }) => id)),
      ),
    ),
    /** VMs are fetched after that, without blocking the diagram. */
    isLoading: computed(() =>
      windows.some(({ state }) => state.value === "loading"),
    ),
    isStale: computed(() =>
      windows.some(({ state }) => state.value === "stale"),
    ),
    refusal: computed(() =>
      windows.map(({ error }) => error.value).find(Boolean),
    ),
  };
}

export type TopologyDiagramData = ReturnType<
  typeof useTopology
>["diagram"]["value"];
