import type { MachineMemory } from "@xo-server/inventory";

const MIB = 1024 * 1024;
const PART = 1 / 16;
/** The latest rows of 50,000 VMs. */
const FLOOR = 64 * MIB;
/** Ten minutes of 60,000 VMs with 30 columns each. */
const CEILING = 1024 * MIB;

/** Limit of cached metrics, off the heap: a share of the available memory. */
export function statsMemory({
  totalBytes,
  constrainedBytes,
}: MachineMemory): number {
  const isConstrained = constrainedBytes > 0 && constrainedBytes < totalBytes;
  const memory = isConstrained ? constrainedBytes : totalBytes;
  return Math.floor(Math.min(CEILING, Math.max(FLOOR, memory * PART)));
}
