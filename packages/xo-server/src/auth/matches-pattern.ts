/**
 * Whether a value fits a pattern of the kind that tokens and ACLs use: members
 * of an object must each fit, members of an array must each fit a member of
 * the value, `__and`, `__or` and `__not` combine; anything else must be equal.
 * @param pattern of a bounded message: it is not deeper than the stack
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
