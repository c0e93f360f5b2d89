import type { ColumnTable } from "../../live/column-table.js";
import type { Host } from "../../objects/infrastructure.js";

export type Protection = "restart" | "best-effort" | "none";

interface FleetHost {
  readonly id: string;
  readonly name: string;
  readonly state: "up" | "disabled" | "down";
  /** Bytes. */
  readonly memory: { readonly size: number; readonly used: number };
  readonly vms: number;
  /** Memory in bytes of VMs that restart when the host fails. */
  readonly protectedBytes: number;
}

export interface FleetVm {
  readonly name: string;
  /** Bytes. */
  readonly memory: number;
  readonly protection: Protection;
  /** Seconds until VMs of the next start order may start. */
  readonly delay: number;
  /** Id of its host. */
  readonly host: string | undefined;
}

/** The hosts and VMs of a pool for the failure simulator. */
export interface Fleet {
  /** Sorted by name. */
  readonly hosts: readonly FleetHost[];
  readonly hostOf: ReadonlyMap<string, FleetHost>;
  /** Running VMs. */
  readonly counts: Readonly<Record<Protection, number>>;
  readonly vm: (id: string) => FleetVm | undefined;
  /** Changes when a plan could change. */
  readonly stamp: string;
}

/** Of a VM, for `query.columns`. */
export const vmPaths = [
  "name_label",
  "$container",
  "power_state",
  "memory.size",
  "high_availability",
  "startDelay",
] as const;

/** Of a host. */
export const hostFields = [
  "id",
  "type",
  "name_label",
  "power_state",
  "enabled",
  "memory",
] as const;

/** @param table of VMs with `vmPaths`; undefined: not loaded yet */
export function fleetOf(
  hosts: readonly Host[],
  table: ColumnTable | undefined,
): Fleet {
  const vms = vmsOf(table);
  const counts = { restart: 0, "best-effort": 0, none: 0 };
  const perHost = new Map(hosts.map(({ id }) => [id, { vms: 0, bytes: 0 }]));
  for (const [row, host] of vms.hosts.entries()) {
    const sum = host === undefined ? undefined : perHost.get(host);
    if (sum === undefined) continue;
    const protection = vms.protection(row);
    counts[protection]++;
    sum.vms++;
    if (protection !== "none") sum.bytes += vms.memory(row);
  }
  const { compare } = new Intl.Collator("en", { numeric: true });
  const all = hosts
    .map((host) => toFleetHost(host, perHost.get(host.id)!))
    .sort((a, b) => compare(a.name, b.name));
  const states = all.map(({ id, state }) => `${id}${state}`).join();
  return {
    hosts: all,
    counts,
    vm: vms.of,
    hostOf: new Map(all.map((host) => [host.id, host])),
    stamp: `${states} ${table?.stampOf(vmPaths.slice(1)) ?? ""}`,
  };
}

function toFleetHost(
  { id, name_label, power_state, enabled, memory }: Host,
  sum: { readonly vms: number; readonly bytes: number },
): FleetHost {
  const isUp = power_state === "Running";
  return {
    id,
    name: name_label || id.slice(0, 8),
    vms: sum.vms,
    state: !isUp ? "down" : enabled ? "up" : "disabled",
    memory: { size: memory.size, used: memory.usage },
    protectedBytes: sum.bytes,
  };
}

function vmsOf(table: ColumnTable | undefined) {
  const ids = table?.ids ?? [];
  const text = (path: string) => {
    const values = table?.values(path) ?? [];
    return (row: number) => String(values[row] ?? "");
  };
  const number = (path: string) => {
    const values = table?.numbers(path);
    return (row: number) => values?.[row] || 0;
  };
  const [name, where, state] = [
    text("name_label"),
    text("$container"),
    text("power_state"),
  ] as const;
  const memory = number("memory.size");
  const delay = number("startDelay");
  const priority = text("high_availability");
  const runs = (row: number) =>
    state(row) === "Running" || state(row) === "Paused";
  const protection = (row: number): Protection => {
    const requested = priority(row);
    return requested === "restart" || requested === "best-effort"
      ? requested
      : "none";
  };
  let places: Map<string, number> | undefined;
  const hosts = ids.map((_, row) => (runs(row) ? where(row) : undefined));
  const of = (id: string): FleetVm | undefined => {
    places ??= new Map(ids.map((id, row) => [id, row]));
    const row = places.get(id);
    if (row === undefined) return undefined;
    return {
      name: name(row),
      memory: memory(row),
      delay: delay(row),
      protection: protection(row),
      host: hosts[row],
    };
  };
  return { hosts, memory, protection, of };
}
