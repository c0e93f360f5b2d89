import type { Packing } from "./packing.js";

/**
 * fullest: best fit, the host with the least memory left. emptiest: worst fit,
 * the host with the most.
 */
type FitMethod = "fullest" | "emptiest";

/**
 * Best-fit or worst-fit decreasing: kinds with the fewest eligible hosts first,
 * then the largest. No backtracking.
 * @returns whether all units were placed; otherwise the packing has those that
 *   were
 */
export function fitDecreasing(packing: Packing, how: FitMethod): boolean {
  const { kinds } = packing.problem;
  const options = kinds.map((_, kind) => countOptions(packing, kind));
  const order = [...kinds.keys()].sort(
    (a, b) =>
      options[a]! - options[b]! || kinds[b]!.memory - kinds[a]!.memory || a - b,
  );
  for (const kind of order)
    while (packing.remaining[kind]! > 0) {
      const host = findHost(packing, kind, how);
      if (host < 0) break;
      // With best fit, the chosen host remains the fullest one.
      const units = how === "fullest" ? packing.fits(kind, host) : 1;
      for (let unit = 0; unit < units; unit++) packing.put(kind, host);
    }
  return packing.unplaced === 0;
}

/** Number of hosts that can take at least one unit of this kind now. */
export function countOptions(packing: Packing, kind: number): number {
  let options = 0;
  for (let host = 0; host < packing.problem.hosts; host++)
    if (packing.fits(kind, host) > 0) options++;
  return options;
}

function findHost(packing: Packing, kind: number, how: FitMethod): number {
  let found = -1;
  for (let host = 0; host < packing.problem.hosts; host++) {
    if (packing.fits(kind, host) === 0) continue;
    const by = packing.memory[host]! - packing.memory[found]!;
    if (found < 0 || (how === "fullest" ? by < 0 : by > 0)) found = host;
  }
  return found;
}
