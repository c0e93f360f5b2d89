import type { Random } from "../faults/seeded-random.js";

/** The same order for the same seed. */
export function shuffled<T>(from: readonly T[], random: Random): readonly T[] {
  const items = [...from];
  for (let i = items.length - 1; i > 0; i--) {
    const j = random(i + 1);
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}
