import { createClient } from "xen-api";
import type { PeerJob } from "./peer-job.js";
import { readJob, reportFigures } from "./job.js";
import { measureLoad, type Loaded } from "./measured-load.js";

const job = await readJob<PeerJob>();
reportFigures(
  await measureLoad(
    () => load(job),
    async () => undefined,
  ),
);

async function load({ pool, transport }: PeerJob): Promise<Loaded> {
  const xapi = createClient({
    url: pool.url,
    auth: { user: pool.user, password: pool.password },
    transport,
    allowUnauthorized: true,
    watchEvents: true,
  });
  await xapi.connect();
  await xapi.objectsFetched;
  return {
    objects: xapi.objects.size,
    bytes: 0,
    close: () => xapi.disconnect(),
  };
}
