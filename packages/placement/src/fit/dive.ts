import type { Packing } from "./packing.js";

/** fullest: the host that has least room with the unit there. emptiest: that with the most. */
export type Dive = "fullest" | "emptiest";

/**
 * Places units one by one, kinds with the fewest hosts first, of these the
 * biggest, and never takes one back.
 * @returns whether all have a place; if not, the packing has those that have
 */
export function dive(packing: Packing, how: Dive): boolean {
  const { kinds } = packing.problem;
  const options = kinds.map((_, kind) => countOptions(packing, kind));
  const order = [...kinds.keys()].sort(
    (a, b) =>
      options[a]! - options[b]! || kinds[b]!.memory - kinds[a]!.memory || a - b,
  );
  for (const kind of order)
    while (packing.left[kind]! > 0) {
      const host = findHost(packing, kind, how);
      if (host < 0) break;
      // The fullest stays the fullest.
      const units = how === "fullest" ? packing.fits(kind, host) : 1;
      for (let unit = 0; unit < units; unit++) packing.put(kind, host);
    }
  return packing.unplaced === 0;
}

export function countOptions(packing: Packing, kind: number): number {
  let options = 0;
  for (let host = 0; host < packing.problem.hosts; host++)
    if (packing.fits(kind, host) > 0) options++;
  return options;
}

function findHost(packing: Packing, kind: number, how: Dive): number {
  let found = -1;
  for (let host = 0; host < packing.problem.hosts; host++) {
    if (packing.fits(kind, host) === 0) continue;
    const by = packing.memory[host]! - packing.memory[found]!;
    if (found < 0 || (how === "fullest" ? by < 0 : by > 0)) found = host;
  }
  return found;
}
