/** The rows with one of them changed. */
export function withChange<T extends { readonly key: string }>(
  rows: readonly T[],
  key: string,
  changes: Partial<T>,
): T[] {
  return rows.map((row) => (row.key === key ? { ...row, ...changes } : row));
}

/** The rows except one. */
export function without<T extends { readonly key: string }>(
  rows: readonly T[],
  key: string,
): T[] {
  return rows.filter((row) => row.key !== key);
}
