import { NULL_REF } from "@xo-server/model";
import type { FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { Guest, GuestName, GuestContext } from "./guest.js";
import type { FleetProfile } from "./profiles.js";
import { addConsoles } from "./consoles.js";
import { addDisks } from "./guest-disks.js";
import { addInterfaces } from "./guest-interfaces.js";
import { addGuestMetrics } from "./guest-metrics.js";
import { guestRoles, guestSystems } from "./guest-systems.js";
import { addVm } from "./guest-record.js";

const GiB = 2 ** 30;

/**
 * The guests, on hosts that have the memory for them, with disks, interfaces, consoles and data of
 * their agents.
 */
export function addGuests(
  builder: FleetBuilder,
  around: GuestContext,
): readonly Guest[] {
  const numbers = new Map<string, number>();
  return Array.from({ length: around.profile.vms }, (_, index) => {
    const role = builder.random.pick(guestRoles);
    const number = (numbers.get(role.stem) ?? 0) + 1;
    numbers.set(role.stem, number);
    const name = `${role.stem}-${String(number).padStart(role.stem.includes("-") ? 1 : 4, "0")}`;
    return addGuest(builder, around, { index, name, role });
  });
}

function addGuest(
  builder: FleetBuilder,
  around: GuestContext,
  title: GuestName,
): Guest {
  const { index, name } = title;
  const plan = planGuest(builder, around, title);
  const { system, state, host } = plan;
  const guestMetrics =
    state === "Halted" && builder.random.chance(0.4)
      ? NULL_REF
      : addGuestMetrics(builder, { system, index, live: state === "Running" });
  const vm = addVm(builder, { ...plan, title, guestMetrics });
  const disks = addDisks(builder, around, {
    vm,
    name,
    state,
    home: host ?? builder.random.pick(around.hosts),
  });
  addInterfaces(builder, around, { vm, state, index });
  if (host !== undefined) addConsoles(builder, vm.ref, host.consoleAddress);
  if (system.firmware === "uefi" && system.family === "windows")
    builder.add("VTPM", {
      VM: vm.ref,
      allowed_operations: state === "Halted" ? ["destroy"] : [],
      is_unique: false,
    });
  return { ...plan, vm, name, index, disks };
}

/** Chooses the system, size, state and host of a guest. */
function planGuest(
  builder: FleetBuilder,
  { profile, hosts }: GuestContext,
  { role }: GuestName,
): Pick<Guest, "system" | "memory" | "state" | "host"> {
  const { random } = builder;
  const windows = role.stem.startsWith("win");
  const system = random.pick(
    guestSystems.filter(({ family }) => (family === "windows") === windows),
  );
  const memory = random.pick(system.memoryGiB) * GiB;
  const requested = pickState(builder, profile);
  if (requested === "Halted" || requested === "Suspended")
    return { system, memory, state: requested, host: undefined };
  const host = placeOn(builder, hosts, memory);
  return {
    system,
    memory,
    host,
    state: host === undefined ? "Halted" : requested,
  };
}

function pickState(
  { random }: FleetBuilder,
  profile: FleetProfile,
): Guest["state"] {
  if (random.chance(profile.runningShare)) return "Running";
  const chance = random.next();
  if (chance < 0.02) return "Paused";
  return chance < 0.1 ? "Suspended" : "Halted";
}

/** A host with room, at random as operators' balancers leave them; the emptiest where chance found none. */
function placeOn(
  { random }: FleetBuilder,
  hosts: readonly FleetHost[],
  memory: number,
): FleetHost | undefined {
  const needed = memory + 9437184;
  let host = random.pick(hosts);
  for (let tries = 0; tries < 3 && host.freeMemory < needed; tries++)
    host = random.pick(hosts);
  if (host.freeMemory < needed)
    host = hosts.reduce((best, other) =>
      other.freeMemory > best.freeMemory ? other : best,
    );
  if (host.freeMemory < needed) return undefined;
  host.freeMemory -= needed;
  return host;
}
