import { LOAD_KEY } from "./load-key.js";
import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { FleetProfile } from "./profiles.js";
import type { FleetStorage } from "./storage.js";
import type { Guest } from "./guest.js";

interface Duties {
  readonly guests: readonly Guest[];
  readonly hosts: readonly FleetHost[];
  readonly storage: FleetStorage;
  readonly profile: FleetProfile;
}

/**
 * Settings of a pool that has been in use for years: HA restart priorities and
 * orders, anti-affinity groups (one of them violated), and one overloaded host.
 */
export function addHaPolicies(builder: FleetBuilder, duties: Duties): void {
  if (duties.profile.hasDuties !== true) return;
  const agile = duties.guests.filter((guest) => isAgile(guest, duties));
  for (const guest of agile) protect(guest);
  addBreach(builder, agile);
  loadHost(duties, duties.hosts[1] ?? duties.hosts[0]!);
}

/** Its disks are where every host reaches them. */
function isAgile({ disks }: Guest, { storage }: Duties): boolean {
  const shared = new Set(storage.shared.map(({ ref }) => ref));
  return disks.every(({ vdi }) => shared.has(vdi.record["SR"] as string));
}

/** Databases first, then applications, then what shows them; the delay in seconds. */
const protection: Readonly<
  Record<string, readonly [priority: string, order: number, delay: number]>
> = {
  "db-prod": ["restart", 0, 20],
  app: ["restart", 1, 10],
  mail: ["restart", 1, 0],
  web: ["best-effort", 2, 0],
  cache: ["best-effort", 2, 0],
};

function protect({ vm, name, state }: Guest): void {
  const [priority, order, delay] =
    protection[name.replace(/-\d+$/, "")] ?? ([] as const);
  if (priority === undefined || state !== "Running") return;
  vm.record["ha_restart_priority"] = priority;
  vm.record["ha_always_run"] = priority === "restart";
  vm.record["order"] = order!;
  vm.record["start_delay"] = delay!;
}

/** A group that is to keep apart, of which two run on one host. */
function addBreach(builder: FleetBuilder, agile: readonly Guest[]): void {
  const free = agile.filter(
    ({ vm, name, state }) =>
      name.startsWith("k8s-node") &&
      state === "Running" &&
      (vm.record["groups"] as readonly string[]).length === 0,
  );
  const pair = free.flatMap((one, i) => {
    const other = free.slice(i + 1).find(({ host }) => host === one.host);
    return other === undefined ? [] : [[one, other] as const];
  })[0];
  if (pair === undefined) return;
  const third = free.find(({ host }) => host !== pair[0].host);
  const apart = builder.add("VM_group", {
    name_label: "Control plane apart",
    name_description: "No two of these nodes on one host",
    placement: "anti_affinity",
  });
  for (const guest of [...pair, ...(third === undefined ? [] : [third])])
    guest.vm.record["groups"] = [apart.ref];
}

/** Number of VCPUs that a busy guest uses. */
const BUSY = 0.85;

/**
 * Share of a host's CPUs that busy guests use; the other guests, with the usual load, bring it near
 * its limit.
 */
const BUSY_HOST = 0.6;

/** Guests of a host have so much to do that it is at its limit. */
function loadHost({ guests, profile }: Duties, host: FleetHost): void {
  let left = profile.cpusPerHost * BUSY_HOST;
  for (const guest of guests) {
    if (guest.host !== host || guest.state !== "Running") continue;
    const load = BUSY * (guest.vm.record["VCPUs_at_startup"] as number);
    if (load > left) continue;
    left -= load;
    say(guest.vm, load);
  }
}

function say({ record }: DraftObject, load: number): void {
  record["other_config"] = {
    ...(record["other_config"] as Readonly<Record<string, string>>),
    [LOAD_KEY]: load.toFixed(2),
  };
}
