/**
 * The order of a live list that does not move under the pointer: while it is
 * `held`, existing items keep their position and new ones come last; when it is
 * released, the requested order applies. Deleted items are removed immediately.
 */
export function stableOrder(
  shown: readonly string[],
  requested: readonly string[],
  { held, exists }: { held: boolean; exists: (id: string) => boolean },
): readonly string[] {
  if (!held) return requested;
  const kept = shown.filter(exists);
  const known = new Set(kept);
  return [...kept, ...requested.filter((id) => !known.has(id))];
}
