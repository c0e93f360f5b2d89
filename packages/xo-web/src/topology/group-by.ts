/** Groups values, in the order of the first value of each group. Node 20 has no Map.groupBy. */
export function groupBy<K, V>(
  values: Iterable<V>,
  keyOf: (value: V) => K,
): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
