import { groupBy } from "./group-by.js";
import type { TopologyColumns } from "./column-table.js";

export interface TopologyVm {
  readonly id: string;
  readonly name: string;
  readonly isRunning: boolean;
}

/** VMs with an interface to a network, by the host where they run. */
export interface NetworkVms {
  readonly total: number;
  readonly running: number;
  /** Id of the host; "": VMs that do not run. Most VMs first. */
  readonly byHost: ReadonlyMap<string, readonly TopologyVm[]>;
}

/**
 * @param vms columns name_label, power_state, $container
 * @param vifs columns $VM, $network
 * @returns by id of the network
 */
export function placeVms(
  vms: TopologyColumns,
  vifs: TopologyColumns,
  hosts: ReadonlySet<string>,
): ReadonlyMap<string, NetworkVms> {
  const rows = new Map(vms.ids.map((id, row) => [id, row]));
  const seen = new Map<string, Set<string>>();
  const networks = vifs.column("$network");
  const owners = vifs.column("$VM");
  for (let row = 0; row < vifs.ids.length; row++) {
    const network = networks[row];
    const vm = owners[row];
    if (typeof network !== "string" || typeof vm !== "string") continue;
    // Templates and snapshots have VIFs too.
    if (!rows.has(vm)) continue;
    const ids = seen.get(network) ?? new Set();
    seen.set(network, ids.add(vm));
  }
  const placed = new Map<string, NetworkVms>();
  for (const [network, ids] of seen) placed.set(network, place(ids));
  return placed;

  function place(ids: ReadonlySet<string>): NetworkVms {
    const found = [...ids].map((id) => toVm(id, rows.get(id)!));
    const byHost = groupBy(found, ({ host }) => host);
    for (const members of byHost.values())
      members.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return {
      total: found.length,
      running: found.filter(({ isRunning }) => isRunning).length,
      byHost: new Map(
        [...byHost].sort(
          ([a, one], [b, other]) =>
            other.length - one.length || (a < b ? -1 : 1),
        ),
      ),
    };
  }

  function toVm(id: string, row: number) {
    const container = vms.column("$container")[row];
    const isRunning = vms.column("power_state")[row] === "Running";
    const name = vms.column("name_label")[row];
    return {
      id,
      name: typeof name === "string" ? name : "",
      isRunning,
      host:
        isRunning && typeof container === "string" && hosts.has(container)
          ? container
          : "",
    };
  }
}
