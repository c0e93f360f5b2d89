import type { FleetObject } from "../xapi-value.js";
import { addMessagesAndTasks } from "./messages-and-tasks.js";
import { addHaPolicies } from "./ha-policies.js";
import { FleetBuilder } from "./fleet-builder.js";
import { addGuests } from "./guests.js";
import { addHosts } from "./hosts.js";
import { addNetworks } from "./networks.js";
import { addGroups, addPool, addSchedules } from "./pool.js";
import { profileFor, type FleetProfile } from "./profiles.js";
import { addRoles } from "./roles.js";
import { addSnapshots } from "./snapshots.js";
import { addStorage } from "./storage.js";
import { addTemplates } from "./templates.js";

export interface FleetOptions {
  readonly hosts: number;
  readonly vms: number;
  /** The same seed gives the same fleet. */
  readonly seed: number | string;
  /** What the pool is made of; by default the profile nearest in size. Hosts and VMs of it do not count. */
  readonly profile?: FleetProfile;
  /** Address (`host[:port]`) of each host, the coordinator first; the rest get 127.10.x.y. */
  readonly addresses?: readonly string[];
  /** Instead of the profile's. */
  readonly system?: FleetProfile["system"];
  /** Name of the pool. */
  readonly name?: string;
  /** The present of the fleet in Unix seconds: recent messages and tasks are dated before it. Default: 2026-11-01. */
  readonly now?: number;
}

/** 2026-11-01T00:00:00Z: fixed, so that a fleet depends on nothing but its options. */
const DEFAULT_NOW = 1793491200;

/**
 * All objects of a pool: complete records (every field that is on the wire), all
 * references resolved, both sides of each relation in step. Arrays and maps in
 * them are shared between records: change them only through the database.
 */
export function generateFleet(options: FleetOptions): Iterable<FleetObject> {
  const {
    hosts: hostCount,
    vms,
    seed,
    addresses = [],
    name = "Simulated pool",
  } = options;
  const profile = {
    ...(options.profile ?? profileFor(hostCount, vms)),
    hosts: hostCount,
    vms,
    ...(options.system && { system: options.system }),
  };
  const builder = new FleetBuilder(String(seed), options.now ?? DEFAULT_NOW);
  addRoles(builder);
  const hosts = addHosts(builder, profile, addresses);
  const networks = addNetworks(builder, profile, hosts);
  const storage = addStorage(builder, profile, hosts);
  addPool(builder, profile, { hosts, storage, name });
  addTemplates(builder);
  const around = { profile, hosts, networks, storage };
  const guests = addGuests(builder, around);
  addGroups(builder, guests);
  addSnapshots(builder, guests, {
    ...around,
    schedules: addSchedules(builder),
  });
  addMessagesAndTasks(builder, profile, { guests, hosts });
  addHaPolicies(builder, { guests, hosts, storage, profile });
  for (const { metrics, freeMemory } of hosts)
    metrics.record["memory_free"] = freeMemory;
  return builder.finish();
}
