import type { Figures } from "../harness/figures.js";
import { LiveClient } from "./live-client.js";
import { measureChanges, measurePoolChanges } from "./measure-changes.js";
import { measureDeath } from "./measure-death.js";
import { measureRenewals } from "./measure-renewals.js";
import { largestOwner, timeUntilMoved } from "./owner.js";
import { ownPools } from "./own-pools.js";
import { BenchGroup, type GroupShape } from "./server-group.js";

interface ClusterShape extends GroupShape {
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
    await ownPools(group, atOwner);
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

/** SIGTERM to the owner. */
async function measureHandOver(group: BenchGroup): Promise<Figures> {
  const owner = await largestOwner(group);
  const ended = owner.server.stop();
  const handOverMs = await timeUntilMoved(group, owner);
  await ended;
  return { handedOver: owner.subjects.length, handOverMs };
}
