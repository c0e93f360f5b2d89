/** Sets a field unless the value is undefined. */
export function put(
  view: Record<string, unknown>,
  field: string,
  value: unknown,
): void {
  if (value !== undefined) view[field] = value;
}
