import type { PoolModel } from "@xo-server/placement";

/**
 * Default of `maxFailures`: about 2,000 sets of hosts at most, which are planned in
 * well under a second.
 */
export function defaultMaxFailures({ hosts }: PoolModel): number {
  return hosts.length <= 24 ? 3 : 2;
}
