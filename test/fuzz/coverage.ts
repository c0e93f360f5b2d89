/** Counters of all instrumented modules; loaded by them, and by the fuzzer in the same process. */

const MAX_PLACES = 2 ** 17;

export const counters = new Uint8Array(MAX_PLACES);
/** Literals of the modules. */
export const words: string[] = [];
let used = 0;

/** @returns the counters of a module */
export function register(
  places: number,
  literals: readonly string[],
): Uint8Array {
  const from = Math.min(used, MAX_PLACES - places);
  used = from + places;
  words.push(...literals);
  return counters.subarray(from, used);
}

export function usedPlaces(): number {
  return used;
}
