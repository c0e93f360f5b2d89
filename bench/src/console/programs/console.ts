import { fullScale } from "../../api/api-scale.js";
import { MeasuredServer } from "../../api/measured-server.js";
import { percentile } from "../../harness/figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import {
  openBare,
  openThroughServer,
  type ConsoleEnd,
} from "../console-end.js";
import type { ConsoleJob } from "../console-job.js";
import { fetchPictures, pressKeys } from "../measure-console.js";
import { ScreenHost } from "../screen-host.js";

// Keys and pictures of consoles, through a server or straight to the host.
const { pool, way, task } = await readJob<ConsoleJob>();
const host = await ScreenHost.start(pool);
const count = task.kind === "keys" ? task.consoles : 1;
const server =
  way === "bare"
    ? undefined
    : await MeasuredServer.start({
        scale: fullScale,
        pools: [host.pool],
        nodeOptions: [],
      });
const consoles =
  server === undefined
    ? await Promise.all(
        Array.from({ length: count }, () => openBare(host.pool.url)),
      )
    : await openAll(server);

await measure(consoles.slice(0, 1), true);
const before = await server?.memory();
await server?.begin();
const figures = await measure(consoles, false);
const work = await server?.end();
const after = await server?.memory();
for (const console of consoles) console.close();
await server?.stop();
host.stop();
reportFigures({
  consoles: consoles.length,
  ...figures,
  ...(work === undefined
    ? {}
    : {
        cpuMs: work.cpuMs,
        longestOwnBlockMs: work.longestOwnBlockMs,
        grownBytes: after! - before!,
      }),
});

/** @param isWarmUp a little of it, for compilers and caches */
async function measure(
  consoles: readonly ConsoleEnd[],
  isWarmUp: boolean,
): Promise<Record<string, number>> {
  if (task.kind === "bytes") {
    const bytes = isWarmUp ? task.bytes / 4 : task.bytes;
    return { bytesPerSecond: await fetchPictures(consoles[0]!, bytes) };
  }
  const keys = isWarmUp ? { keys: Math.min(500, task.keys), pauseMs: 0 } : task;
  const all = await Promise.all(consoles.map((one) => pressKeys(one, keys)));
  const delays = all.flat();
  return {
    keys: delays.length,
    keyP50Ms: percentile(delays, 0.5),
    keyP99Ms: percentile(delays, 0.99),
    keyMaxMs: percentile(delays, 1),
  };
}

/** Consoles of VMs that run; of each once, while there are enough. */
async function openAll({ url, token }: MeasuredServer): Promise<ConsoleEnd[]> {
  const answer = await fetch(
    `${url}/rest/v0/vms?fields=id&filter=power_state:Running`,
    { headers: { cookie: `authenticationToken=${token}` } },
  );
  const vms = (await answer.json()) as { readonly id: string }[];
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      openThroughServer(url, token, vms[i % vms.length]!.id),
    ),
  );
}
