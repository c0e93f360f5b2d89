import { setTimeout as pause } from "node:timers/promises";
import type { Figures } from "../harness/figures.js";
import { familyCpuMs } from "../harness/process-cpu.js";
import { LiveClient } from "./live-client.js";
import { ownPools } from "./own-pools.js";
import type { BenchGroup } from "./server-group.js";

/** The cost of leases and heartbeats, with nothing else to do. */
export async function measureRenewals(
  { postgres, servers }: BenchGroup,
  restMs: number,
): Promise<Figures> {
  const read = async () => {
    const [row] = await postgres.query(
      "xo",
      `select pg_current_wal_lsn() - '0/0' as bytes,
              (select sum(n_tup_upd) from pg_stat_user_tables
                where relname in ('leases', 'cluster_servers')) as updates`,
    );
    return { bytes: Number(row!["bytes"]), updates: Number(row!["updates"]) };
  };
  const before = await read();
  const cpuMs = familyCpuMs(postgres.pid!);
  await pause(restMs);
  const usedMs = familyCpuMs(postgres.pid!) - cpuMs;
  const after = await read();
  const seconds = (restMs / 1_000) * servers.length;
  return {
    walBytesPerSecond: (after.bytes - before.bytes) / seconds,
    rowUpdatesPerSecond: (after.updates - before.updates) / seconds,
    postgresPercent: (100 * usedMs) / restMs,
  };
}

/** The same without owners of the pools, and with one for each. */
export async function measureManyRenewals(
  group: BenchGroup,
  restMs: number,
): Promise<Figures> {
  const urls = await Promise.all(group.servers.map(({ url }) => url));
  const client = await LiveClient.open(urls);
  try {
    const without = await measureRenewals(group, restMs);
    await ownPools(group, client);
    // The servers divide the leases among themselves.
    await pause(restMs);
    const figures = await measureRenewals(group, restMs);
    return { ...figures, restPercent: without["postgresPercent"]! };
  } finally {
    client.close();
  }
}
