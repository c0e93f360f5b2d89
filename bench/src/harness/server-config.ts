import type { PoolAddress } from "./simulator.js";

/** The configuration of a server with these pools, in YAML. */
export function toServerConfig(
  dataDir: string,
  pools: readonly PoolAddress[],
): string {
  const lines = pools.map(
    ({ url, user, password }, i) =>
      `  - { label: P${i}, hosts: ["${url}"], user: ${user}, password: ${password} }`,
  );
  return [`dataDir: ${dataDir}`, "pools:", ...lines, ""].join("\n");
}
