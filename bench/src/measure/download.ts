import type { DownloadJob } from "./download-job.js";
import { createHttpPoster } from "./http-poster.js";
import { readJob, reportFigures } from "./job.js";
import { measureLoad, type Loaded } from "./measured-load.js";
import { createOnreadPoster } from "./onread-poster.js";
import { listingRequests, login, sendAll } from "./raw-xapi.js";

const job = await readJob<DownloadJob>();
reportFigures(
  await measureLoad(
    () => download(job),
    async () => undefined,
  ),
);

async function download({
  pool,
  way,
  connections,
}: DownloadJob): Promise<Loaded> {
  const poster =
    way === "onread"
      ? createOnreadPoster(pool.url)
      : createHttpPoster(pool.url, connections);
  const session = await login(poster, pool);
  const kept: unknown[] = [];
  let bytes = 0;
  let objects = 0;
  await sendAll(listingRequests(session), connections, async (request) => {
    if (way !== "parse") {
      // Not `bytes += await`: that would read the sum before the wait.
      const length = await poster.drain(request);
      bytes += length;
      return;
    }
    const text = await poster.text(request);
    bytes += Buffer.byteLength(text);
    const { result } = JSON.parse(text) as { result?: object };
    objects += Object.keys(result ?? {}).length;
    kept.push(result);
  });
  return {
    objects,
    bytes,
    async close() {
      kept.length = 0;
      poster.close();
    },
  };
}
