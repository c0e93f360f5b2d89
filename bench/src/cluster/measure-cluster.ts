import { setTimeout as pause } from "node:timers/promises";
import type { Figures } from "../harness/figures.js";
import { LiveClient } from "./live-client.js";
import { measureChanges, measurePoolChanges } from "./measure-changes.js";
import { ownersOf, timeUntil } from "./lease-watch.js";
import { BenchGroup, nameOf, type GroupShape } from "./server-group.js";

export interface ClusterShape extends GroupShape {
  /** Changes of which the time to a client is measured. */
  readonly changes: number;
  /** Length of the measurement of renewals, in ms. */
  readonly restMs: number;
}

/** One run: new servers, a planned hand-over, and the death of an owner. */
export async function measureCluster(shape: ClusterShape): Promise<Figures> {
  const group = await BenchGroup.start(shape);
  const urls = await Promise.all(group.servers.map(({ url }) => url));
  // The first server has all leases: the others have joined later.
  const atOwner = await LiveClient.open(urls);
  const elsewhere = await LiveClient.open([...urls.slice(1), urls[0]!]);
  try {
    const pools = (await atOwner.call("query.page", {
      type: "pool",
      fields: ["id"],
    })) as { readonly rows: readonly { readonly id: string }[] };
    for (const { id } of pools.rows)
      await atOwner.call("balancer.setPolicy", { pool: id, mode: "dry-run" });
    await timeUntil("each pool has an owner", async () => {
      const owners = await ownersOf(group.postgres);
      return pools.rows.every(({ id }) => owners.has(`balancer/${id}`));
    });
    const renewals = await measureRenewals(group, shape.restMs);
    const change = await measureChanges(elsewhere, atOwner, shape.changes);
    const poolChange = await measurePoolChanges(
      group,
      [atOwner, elsewhere],
      shape.changes,
    );
    const handOver = await measureHandOver(group);
    const death = await measureDeath(group);
    return { ...renewals, ...change, ...poolChange, ...handOver, ...death };
  } finally {
    atOwner.close();
    elsewhere.close();
    await group.stop();
  }
}

/** The cost of leases and heartbeats, with nothing else to do. */
async function measureRenewals(
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
  await pause(restMs);
  const after = await read();
  const seconds = (restMs / 1_000) * servers.length;
  return {
    walBytesPerSecond: (after.bytes - before.bytes) / seconds,
    rowUpdatesPerSecond: (after.updates - before.updates) / seconds,
  };
}

/** The server with the most leases, and what it owns. */
async function largestOwner(group: BenchGroup) {
  const owners = [...(await ownersOf(group.postgres))];
  const subjectsOf = (name: string) =>
    owners.filter(([, owner]) => owner === name).map(([subject]) => subject);
  const [first] = group.servers
    .map((server, i) => ({ server, subjects: subjectsOf(nameOf(i)), i }))
    .toSorted((a, b) => b.subjects.length - a.subjects.length);
  return first!;
}

/** @returns ms until other servers have all of them */
async function timeUntilMoved(
  group: BenchGroup,
  { subjects, i }: { readonly subjects: readonly string[]; readonly i: number },
): Promise<number> {
  return timeUntil("new owners", async () => {
    const owners = await ownersOf(group.postgres);
    return subjects.every((subject) => {
      const owner = owners.get(subject);
      return owner !== undefined && owner !== nameOf(i);
    });
  });
}

/** SIGTERM to the owner. */
async function measureHandOver(group: BenchGroup): Promise<Figures> {
  const owner = await largestOwner(group);
  const ended = owner.server.stop();
  const handOverMs = await timeUntilMoved(group, owner);
  await ended;
  return { handedOver: owner.subjects.length, handOverMs };
}

/** SIGKILL to the owner, while another client has a live query there. */
async function measureDeath(group: BenchGroup): Promise<Figures> {
  const owner = await largestOwner(group);
  const others = group.servers.filter(
    (server) => server !== owner.server && server.isRunning,
  );
  const urls = [owner.server, ...others].map(({ url }) => url);
  const client = await LiveClient.open(await Promise.all(urls));
  try {
    owner.server.kill();
    const [takeOverMs, liveMs] = await Promise.all([
      timeUntilMoved(group, owner),
      timeUntil("the client", () => client.connections > 1),
    ]);
    return { takenOver: owner.subjects.length, takeOverMs, liveMs };
  } finally {
    client.close();
  }
}
