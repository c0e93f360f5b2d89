/**
 * Whether a value matches a pattern as tokens and ACLs use them: each member of
 * an object must match, each member of an array must match a member of the
 * value, `__and`, `__or` and `__not` combine patterns; other values must be equal.
 * @param pattern from a message of limited depth, so the recursion is bounded
 */
export function matchesPattern(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern))
    return (
      Array.isArray(value) &&
      pattern.every((part) => value.some((one) => matchesPattern(part, one)))
    );
  if (typeof pattern !== "object" || pattern === null) return pattern === value;
  const members = Object.entries(pattern);
  const [[name, operand] = []] = members;
  if (members.length === 1 && name !== undefined) {
    if (name === "__not") return !matchesPattern(operand, value);
    if (name === "__and" && Array.isArray(operand))
      return operand.every((part) => matchesPattern(part, value));
    if (name === "__or" && Array.isArray(operand))
      return operand.some((part) => matchesPattern(part, value));
  }
  if (typeof value !== "object" || value === null) return false;
  return members.every(
    ([key, part]) =>
      Object.hasOwn(value, key) &&
      matchesPattern(part, Reflect.get(value, key) as unknown),
  );
}

/** The top-level properties that a pattern reads; undefined: any. */
export function fieldsOfPattern(pattern: object): string[] | undefined {
  const names = Object.keys(pattern);
  const isPlain =
    !Array.isArray(pattern) && !names.some((name) => name.startsWith("__"));
  return isPlain ? names : undefined;
}
