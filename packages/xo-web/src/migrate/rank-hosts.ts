import type { Host } from "../objects/infrastructure.js";
import type { NowFigures } from "../api/object-row.js";
import type { Vm } from "../objects/vm.js";

/** Candidate hosts and their reachable SRs and networks, by ids. */
export interface MigrationContext {
  readonly hosts: readonly (Host & { readonly now?: NowFigures })[];
  /** SRs by host. */
  readonly srsOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** Networks by host. */
  readonly networksOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** SRs with disks of the VMs. */
  readonly usedSrs: ReadonlySet<string>;
  /** Networks of the VIFs, without internal networks. */
  readonly usedNetworks: ReadonlySet<string>;
  /** Order of the hosts by the placement of the server, best first; empty: not known. */
  readonly placementOrder?: readonly string[];
}

/** Why a host refuses the VMs. */
export type HostRefusal =
  | { readonly why: "down" | "disabled" | "here" | "cpu" | "halted" }
  | { readonly why: "memory"; readonly lacks: number }
  | { readonly why: "network"; readonly networks: readonly string[] };

export interface MigrationTarget {
  readonly host: Host & { readonly now?: NowFigures };
  readonly isOtherPool: boolean;
  /** Storage migration is required: the host does not reach the disks, or is in another pool. */
  readonly movesDisks: boolean;
  readonly refusal: HostRefusal | undefined;
  /** Bytes, now and with the VMs. */
  readonly memory: {
    readonly size: number;
    readonly used: number;
    readonly after: number;
  };
  /** 0 to 1, now and with the VMs; undefined: not known. */
  readonly cpu: { readonly now: number; readonly after: number } | undefined;
}

/** Hosts by rank; refusing hosts last. */
export function rankHosts(
  vms: readonly Vm[],
  context: MigrationContext,
  { movesAllDisks = false }: { readonly movesAllDisks?: boolean } = {},
): readonly MigrationTarget[] {
  const targets = context.hosts.map((host) =>
    toTarget(vms, host, context, movesAllDisks),
  );
  const order = new Map(context.placementOrder?.map((id, i) => [id, i]));
  return targets.sort((a, b) => compare(a, b, order));
}

function toTarget(
  vms: readonly Vm[],
  host: MigrationContext["hosts"][number],
  context: MigrationContext,
  movesAllDisks: boolean,
): MigrationTarget {
  const incoming = vms.filter(({ $container }) => $container !== host.id);
  const needed = incoming.reduce((sum, vm) => sum + memoryOf(vm), 0);
  const { size, usage } = host.memory;
  const isOtherPool = vms.some(({ $pool }) => $pool !== host.$pool);
  const reached = context.srsOf.get(host.id) ?? new Set();
  const movesDisks =
    isOtherPool || [...context.usedSrs].some((sr) => !reached.has(sr));
  const target = {
    host,
    isOtherPool,
    movesDisks,
    memory: { size, used: usage, after: usage + needed },
    cpu: cpuWith(incoming, host),
  };
  const willMove = movesDisks || movesAllDisks;
  return { ...target, refusal: refusalOf(vms, target, context, willMove) };
}

/** Halted VMs need no memory. */
function memoryOf({ power_state, memory }: Vm): number {
  return power_state === "Running" ? memory.dynamic[0] || memory.size : 0;
}

function cpuWith(
  vms: readonly Vm[],
  { now, cpus }: MigrationContext["hosts"][number],
): MigrationTarget["cpu"] {
  if (now?.cpu === undefined) return undefined;
  const cores = Math.max(1, cpus.cores);
  const more = vms.reduce(
    (sum, vm) => sum + ((vm.now?.cpu ?? 0) * (vm.CPUs.number ?? 1)) / cores,
    0,
  );
  return { now: now.cpu, after: Math.min(1, now.cpu + more) };
}

function refusalOf(
  vms: readonly Vm[],
  { host, isOtherPool, memory }: Omit<MigrationTarget, "refusal">,
  { networksOf, usedNetworks, hosts }: MigrationContext,
  movesDisks: boolean,
): HostRefusal | undefined {
  if (host.power_state !== "Running") return { why: "down" };
  if (!host.enabled) return { why: "disabled" };
  const isHere = vms.every(({ $container }) => $container === host.id);
  if (isHere && !movesDisks) return { why: "here" };
  // A halted VM has no host: only its disks or its pool can change.
  const onlyHalted = vms.every(({ power_state }) => power_state !== "Running");
  if (onlyHalted && !movesDisks) return { why: "halted" };
  const lacks = memory.after - memory.size;
  if (lacks > 0 && !isHere) return { why: "memory", lacks };
  if (!onlyHalted && hasOtherCpu(vms, host, hosts)) return { why: "cpu" };
  const reachable = networksOf.get(host.id) ?? new Set();
  const networks = [...usedNetworks].filter((id) => !reachable.has(id));
  return !isOtherPool && networks.length > 0
    ? { why: "network", networks }
    : undefined;
}

/** Live migration requires CPUs of the same vendor. */
function hasOtherCpu(
  vms: readonly Vm[],
  host: Host,
  hosts: readonly Host[],
): boolean {
  const vendor = host.CPUs["vendor"];
  return vms.some(({ $container }) => {
    const from = hosts.find(({ id }) => id === $container)?.CPUs["vendor"];
    return from !== undefined && vendor !== undefined && from !== vendor;
  });
}

/** Hosts without refusal first, then those that need no storage migration, then by the placement of the server where it is known, else by free resources. */
function compare(
  a: MigrationTarget,
  b: MigrationTarget,
  order: ReadonlyMap<string, number>,
): number {
  const able =
    Number(a.refusal !== undefined) - Number(b.refusal !== undefined);
  if (able !== 0) return able;
  const disks = Number(a.movesDisks) - Number(b.movesDisks);
  if (disks !== 0) return disks;
  const [placeA, placeB] = [order.get(a.host.id), order.get(b.host.id)];
  if (placeA !== undefined && placeB !== undefined) return placeA - placeB;
  return freeShareOf(b) - freeShareOf(a) || (a.host.id < b.host.id ? -1 : 1);
}

/** Free memory or CPU after the migration, whichever is scarcer, 0 to 1. */
function freeShareOf({ memory, cpu }: MigrationTarget): number {
  const free = memory.size > 0 ? 1 - memory.after / memory.size : 0;
  return Math.min(free, 1 - (cpu?.after ?? 0));
}
