/**
 * The order of a live list that does not move under the pointer: while it is
 * `held`, what is shown stays where it is and what is new comes last; when it is
 * let go, the `wanted` order holds. What no longer exists goes at once.
 */
export function steadyOrder(
  shown: readonly string[],
  wanted: readonly string[],
  { held, exists }: { held: boolean; exists: (id: string) => boolean },
): readonly string[] {
  if (!held) return wanted;
  const kept = shown.filter(exists);
  const known = new Set(kept);
  return [...kept, ...wanted.filter((id) => !known.has(id))];
}
