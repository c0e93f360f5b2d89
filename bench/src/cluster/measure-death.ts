import { median, percentile, type Figures } from "../harness/figures.js";
import { timeUntil } from "./lease-watch.js";
import { LiveClient } from "./live-client.js";
import { largestOwner, timeUntilMoved } from "./owner.js";
import type { BenchGroup } from "./server-group.js";

/** SIGKILL to the owner, while another client has a live query there. */
export async function measureDeath(group: BenchGroup): Promise<Figures> {
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

/** Kills the owner again and again; it is started again before the next time. */
export async function measureDeaths(
  group: BenchGroup,
  kills: number,
): Promise<Figures> {
  const takeOver: number[] = [];
  const live: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const figures = await measureDeath(group);
    takeOver.push(figures["takeOverMs"]!);
    live.push(figures["liveMs"]!);
    process.stderr.write(`kill ${kill + 1}: ${JSON.stringify(figures)}\n`);
    if (kill + 1 < kills)
      await group.restart(
        group.servers.findIndex(({ isRunning }) => !isRunning),
      );
  }
  return {
    kills,
    takeOverMs: median(takeOver),
    takeOverP99Ms: percentile(takeOver, 0.99),
    liveMs: median(live),
    liveP99Ms: percentile(live, 0.99),
  };
}
