import type { Figures } from "../harness/figures.js";
import { LiveClient } from "./live-client.js";
import { measureChurn } from "./measure-churn.js";
import { measureCluster } from "./measure-cluster.js";
import { measureDeaths } from "./measure-death.js";
import { measureFleetMemory } from "./measure-fleet-memory.js";
import { measureLeases } from "./measure-leases.js";
import { measureManyRenewals } from "./measure-renewals.js";
import { ownPools } from "./own-pools.js";
import { BenchGroup, type GroupShape } from "./server-group.js";

export type RowName =
  | "servers"
  | "kills"
  | "churn"
  | "renewals"
  | "leases"
  | "fleet";

/** A row, and how large it is. */
interface ClusterRow {
  readonly name: RowName;
  readonly shape: GroupShape;
  /** Changes, kills or clients. */
  readonly count: number;
  /** Length of a measurement at rest, in ms. */
  readonly restMs: number;
}

const THIRTY = { servers: 3, pools: 30, vmsPerPool: 20 };

export const usualRows: readonly ClusterRow[] = [
  { name: "servers", shape: THIRTY, count: 20, restMs: 20_000 },
  { name: "kills", shape: THIRTY, count: 50, restMs: 0 },
  {
    name: "churn",
    shape: { servers: 3, pools: 30, vmsPerPool: 60, churn: 200 },
    count: 300,
    restMs: 60_000,
  },
  {
    name: "renewals",
    shape: { servers: 3, pools: 100, vmsPerPool: 1 },
    count: 0,
    restMs: 30_000,
  },
  {
    name: "leases",
    shape: { servers: 3, pools: 1_000, vmsPerPool: 0 },
    count: 0,
    restMs: 60_000,
  },
  {
    name: "fleet",
    shape: { servers: 3, pools: 100, vmsPerPool: 1_000 },
    count: 0,
    restMs: 30_000,
  },
];

/** The same, as small as it can be: one server stops and one is killed in the first row. */
export const smokeRows: readonly ClusterRow[] = usualRows.map((row) => ({
  ...row,
  shape: {
    ...row.shape,
    servers: row.name === "servers" ? 3 : 2,
    pools: 2,
    vmsPerPool: 5,
  },
  count: Math.min(row.count, row.name === "kills" ? 1 : 2),
  // On a busy machine no change arrives in a few seconds.
  restMs: Math.min(row.restMs, row.name === "churn" ? 10_000 : 3_000),
}));

/** The row that is measured several times: the others take long. */
export function runsOf({ name }: ClusterRow, runs: number): number {
  return name === "servers" ? runs : 1;
}

/** One run of one row. */
export async function measureRow(row: ClusterRow): Promise<Figures> {
  const { name, shape, count, restMs } = row;
  switch (name) {
    case "servers":
      return measureCluster({ ...shape, changes: count, restMs });
    case "kills":
      return withGroup(shape, async (group) => {
        const urls = await Promise.all(group.servers.map(({ url }) => url));
        const client = await LiveClient.open(urls);
        await ownPools(group, client);
        client.close();
        return measureDeaths(group, count);
      });
    case "churn":
      return withGroup(shape, (group) => measureChurn(group, count, restMs));
    case "renewals":
      return withGroup(shape, (group) => measureManyRenewals(group, restMs));
    case "leases":
      return measureLeases(shape.pools, shape.servers, restMs);
    case "fleet":
      return withGroup({ ...shape, servers: 1 }, (group) =>
        measureFleetMemory(group, shape.servers, restMs),
      );
  }
}

async function withGroup(
  shape: GroupShape,
  measure: (group: BenchGroup) => Promise<Figures>,
): Promise<Figures> {
  const group = await BenchGroup.start(shape);
  try {
    return await measure(group);
  } finally {
    await group.stop();
  }
}
