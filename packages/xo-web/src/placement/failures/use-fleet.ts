import { computed, type ComputedRef } from "vue";
import { useColumns } from "../../live/use-columns.js";
import { useObjects } from "../../live/use-window.js";
import type { Host } from "../../objects/infrastructure.js";
import { useNames } from "../../objects/use-name.js";
import { fleetOf, hostFields, vmPaths, type Fleet } from "./fleet.js";

/** XAPI's maximum of hosts in a pool. */
const MAX_HOSTS = 500;

/** The hosts and VMs of a pool, live. */
export function useFleet(pool: () => string): {
  fleet: ComputedRef<Fleet>;
  /** Hosts and VMs are loaded. */
  isKnown: ComputedRef<boolean>;
  isStale: ComputedRef<boolean>;
  refusal: ComputedRef<string | undefined>;
} {
  const filter = () => `$pool:${pool()}`;
  const hosts = useObjects<Host>(() => ({
    type: "host",
    filter: filter(),
    fields: hostFields,
    limit: MAX_HOSTS,
  }));
  const vms = useColumns(() => ({
    type: "VM",
    filter: filter(),
    paths: vmPaths,
  }));
  const names = useNames();
  const fleet = computed(() => {
    const now = fleetOf(hosts.rows.value, vms.table.value);
    for (const { id, name } of now.hosts) names.set(id, name);
    return now;
  });
  return {
    fleet,
    isKnown: computed(
      () =>
        hosts.state.value !== "loading" &&
        (vms.table.value !== undefined || vms.error.value !== undefined),
    ),
    isStale: computed(() => hosts.state.value === "stale"),
    refusal: computed(() => hosts.error.value ?? vms.error.value),
  };
}
