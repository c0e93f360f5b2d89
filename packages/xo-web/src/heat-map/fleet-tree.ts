import type { ColumnTable } from "../live/column-table.js";
import type { Steps } from "./in-slices.js";

/** Fields of VMs, hosts and pools that the map shows. */
export interface FleetTables {
  readonly pools: ColumnTable;
  readonly hosts: ColumnTable;
  readonly vms: ColumnTable;
}

/** A host and the VMs that run on it. */
export interface HostNode {
  readonly id: string;
  readonly name: string;
  /** Row in the table of hosts; -1: VMs without a host. */
  readonly index: number;
  /** Rows in the table of VMs. */
  readonly vms: readonly number[];
}

export interface PoolNode {
  readonly id: string;
  readonly name: string;
  readonly hosts: readonly HostNode[];
}

/** The shown part of the fleet: everything, a pool, or a host. */
export interface FleetScope {
  readonly pool?: string;
  readonly host?: string;
}

/** Number of rows that are handled in one step. */
const STEP = 2_000;
const { compare } = new Intl.Collator("en", { numeric: true });

/** Pools with their hosts and VMs, by name, so that nothing moves when values change. */
export function* toFleet(
  tables: FleetTables,
  scope: FleetScope,
  withHalted: boolean,
): Steps<PoolNode[]> {
  const { hosts, pools } = tables;
  const byHost = yield* vmsByHost(tables, withHalted);
  const names = hosts.values("name_label");
  const poolsOfHosts = hosts.values("$pool");
  const poolNames = new Map(
    pools.ids.map((id, i) => [id, textOf(pools.values("name_label")[i])]),
  );
  const nodes = new Map<string, HostNode[]>();
  const add = (pool: string, node: HostNode) => {
    if (scope.pool !== undefined && scope.pool !== pool) return;
    if (scope.host !== undefined && scope.host !== node.id) return;
    nodes.set(pool, [...(nodes.get(pool) ?? []), node]);
  };
  for (const [index, id] of hosts.ids.entries())
    add(textOf(poolsOfHosts[index]), {
      id,
      name: textOf(names[index]),
      index,
      vms: byHost.get(id) ?? [],
    });
  for (const [pool, vms] of byHost)
    if (poolNames.has(pool)) add(pool, { id: "", name: "", index: -1, vms });
  return [...nodes]
    .map(([id, hosts]) => ({
      id,
      name: poolNames.get(id) ?? "",
      hosts: hosts.sort((a, b) => compare(a.name, b.name)),
    }))
    .sort((a, b) => compare(a.name, b.name));
}

/** VMs by host; halted ones by pool. */
function* vmsByHost(
  { vms, hosts }: FleetTables,
  withHalted: boolean,
): Steps<Map<string, number[]>> {
  const states = vms.values("power_state");
  const containers = vms.values("$container");
  const pools = vms.values("$pool");
  const known = new Set(hosts.ids);
  const byHost = new Map<string, number[]>();
  for (let i = 0; i < vms.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const runs = states[i] === "Running" || states[i] === "Paused";
    if (!runs && !withHalted) continue;
    const container = textOf(containers[i]);
    const key = runs && known.has(container) ? container : textOf(pools[i]);
    const there = byHost.get(key);
    if (there === undefined) byHost.set(key, [i]);
    else there.push(i);
  }
  return byHost;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
