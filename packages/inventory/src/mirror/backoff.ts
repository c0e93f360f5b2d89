export interface BackoffOptions {
  /** Wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Upper bound of the wait, in milliseconds. */
  readonly maxMs: number;
}

/**
 * An exponentially growing wait with jitter, in milliseconds: 50 to 100 % of
 * the bound.
 * @param attempts failures in a row, at least 1
 * @param random uniform in [0, 1)
 */
export function backoffMs(
  { firstMs, maxMs }: BackoffOptions,
  attempts: number,
  random: number,
): number {
  const bound = Math.min(maxMs, firstMs * 2 ** Math.min(attempts - 1, 30));
  return bound * (0.5 + random / 2);
}
