import { fullScale } from "../../api/api-scale.js";
import { MeasuredServer } from "../../api/measured-server.js";
import type { ServerFigures } from "../../api/server-figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ExportJob } from "../export-job.js";
import { makeDisk, type ExportedDisk } from "../exported-disk.js";
import { startPlainProxy, type PlainProxy } from "../plain-proxy.js";
import { readAll } from "../read-all.js";

// One disk, fetched once before by the same way: what is measured is carrying, not beginning to.

/** Which program transfers the bytes, and how they are requested. */
interface Carrying {
  readonly serverUnderTest: Pick<
    PlainProxy | MeasuredServer,
    "pid" | "stop"
  > & {
    begin(): Promise<unknown>;
    end(): Promise<ServerFigures>;
  };
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const WARM_BYTES = 64 * 2 ** 20;

const { pool, serverUnderTest: kind, bytes } = await readJob<ExportJob>();
const disks = [await makeDisk(pool, WARM_BYTES), await makeDisk(pool, bytes)];
const server =
  kind === "proxy"
    ? undefined
    : await MeasuredServer.start({
        scale: fullScale,
        pools: [pool],
        nodeOptions: [],
      });
let figures = {};
for (const disk of disks) {
  const { serverUnderTest, url, headers } = await carry(disk);
  await serverUnderTest.begin();
  const read = await readAll(url, headers, serverUnderTest.pid);
  const { cpuMs, longestOwnBlockMs } = await serverUnderTest.end();
  figures = {
    megabytesPerSecond: read.bytes / 1e3 / read.ms,
    cpuMsPerGib: (cpuMs * 2 ** 30) / read.bytes,
    share: read.bytes / bytes,
    grownBytes: read.grownBytes,
    longestOwnBlockMs,
  };
  if (kind === "proxy") await serverUnderTest.stop();
}
await server?.stop();
reportFigures(figures);

async function carry({ uuid, url }: ExportedDisk): Promise<Carrying> {
  if (server === undefined) {
    const serverUnderTest = await startPlainProxy(url);
    return { serverUnderTest, url: serverUnderTest.url, headers: {} };
  }
  const query = kind === "checksum" ? "?checksum=sha256" : "";
  return {
    serverUnderTest: server,
    url: `${server.url}/rest/v0/vdis/${uuid}.raw${query}`,
    headers: { cookie: `authenticationToken=${server.token}` },
  };
}
