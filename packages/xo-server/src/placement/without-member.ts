/** A copy of an object without one optional member. */
export function withoutMember<T extends object, K extends keyof T>(
  from: T,
  name: K,
): Omit<T, K> {
  const rest: Partial<T> = { ...from };
  delete rest[name];
  return rest as Omit<T, K>;
}
