import { availableBytes, type MachineMemory } from "@xo-server/inventory";

const MIB = 1024 * 1024;
const PART = 1 / 16;
/** The latest rows of 50,000 VMs. */
const FLOOR = 64 * MIB;
/** Ten minutes of 60,000 VMs with 30 columns each. */
const CEILING = 1024 * MIB;

/** Limit of cached metrics, off the heap: a share of the available memory. */
export function statsMemory(machine: MachineMemory): number {
  const share = availableBytes(machine) * PART;
  return Math.floor(Math.min(CEILING, Math.max(FLOOR, share)));
}
