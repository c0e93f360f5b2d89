import { performance } from "node:perf_hooks";
import { createParserPool, type ParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import type { PoolAddress } from "../harness/simulator.js";
import { readJob, reportFigures } from "./job.js";
import type { LoadJob } from "./load-job.js";
import { measureLoad, type Loaded } from "./measured-load.js";

const job = await readJob<LoadJob>();
reportFigures(
  await measureLoad(
    (decoder) => loadAll(job, decoder),
    async () =>
      createParserPool({ place: job.place, xml: job.xml, xmlStrict: true }),
  ),
);

async function loadAll(
  { pools, transport }: LoadJob,
  decoder: ParserPool,
): Promise<Loaded> {
  const start = performance.now();
  const loaded = await Promise.all(
    pools.map(async (pool) => {
      const one = await loadPool(pool, transport, decoder);
      return { ...one, ms: performance.now() - start };
    }),
  );
  return {
    objects: sum(loaded.map(({ objects }) => objects)),
    bytes: sum(loaded.map(({ bytes }) => bytes)),
    more:
      pools.length === 1
        ? {}
        : Object.fromEntries(loaded.map(({ ms }, i) => [`pool${i}Ms`, ms])),
    async close() {
      await Promise.all(loaded.map((one) => one.close()));
      await decoder.close();
    },
  };
}

async function loadPool(
  { url, user, password }: PoolAddress,
  transport: LoadJob["transport"],
  decoder: ParserPool,
) {
  const xapi = createXapi({ hosts: url, user, password, transport, decoder });
  await xapi.connect();
  const classes = [...(await xapi.listableClasses())];
  const batches: unknown[] = [];
  let objects = 0;
  const lane = async (): Promise<void> => {
    while (classes.length > 0)
      await xapi.listRecords(classes.shift()!, {
        onBatch: (batch) => {
          objects += batch.count;
          batches.push(batch);
        },
      });
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return {
    objects,
    bytes: xapi.counters.bytesReceived,
    async close() {
      batches.length = 0;
      await xapi.disconnect();
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
