import { computed } from "vue";
import { useObjects } from "../../live/use-window.js";
import type { Host, Network, Sr } from "../../objects/infrastructure.js";
import { useColumns } from "../../topology/use-columns.js";
import { capacityOf } from "./capacity.js";

/** The live hosts, SRs and networks of a pool, and their capacity. */
export function usePool(pool: () => string) {
  const filter = (more = "") => `$pool:${pool()}${more}`;
  const hosts = useObjects<Host>(() => ({
    type: "host",
    filter: filter(),
    fields: [
      "id",
      "type",
      "name_label",
      "power_state",
      "enabled",
      "memory",
      "cpus",
      "version",
      "build",
      "rebootRequired",
      "now.cpu",
      "current_operations",
    ],
    limit: 500,
  }));
  const srs = useObjects<Sr>(() => ({
    type: "SR",
    filter: filter(" !SR_type:udev content_type:!iso"),
    fields: [
      "id",
      "type",
      "name_label",
      "shared",
      "size",
      "physical_usage",
      "usage",
    ],
    limit: 2_000,
  }));
  const networks = useObjects<Network>(() => ({
    type: "network",
    filter: filter(),
    fields: ["id", "type", "name_label"],
    limit: 2_000,
  }));
  const vms = useColumns(() => ({
    type: "VM",
    filter: filter(),
    paths: ["power_state", "CPUs.number", "memory.size"],
  }));
  return {
    hosts: hosts.rows,
    srs: srs.rows,
    networks: networks.rows,
    isKnown: computed(
      () => vms.isKnown.value && hosts.total.value !== undefined,
    ),
    capacity: computed(() =>
      capacityOf(hosts.rows.value, vms.table.value, srs.rows.value),
    ),
  };
}
