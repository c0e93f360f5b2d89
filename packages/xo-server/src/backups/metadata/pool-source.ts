import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { withStreamTask } from "../../transfers/xapi-streams.js";
import { read, textOf } from "../run/xapi-objects.js";
import { MAX_FILE_SIZE, type MetadataSource } from "./metadata-source.js";

/** Path of the handler that reads and restores the database of a pool. */
export const DATABASE_PATH = "/pool/xmldbdump";
/** Name of the file in the backup. */
export const DATABASE_FILE = "database.xml";

/** The database of a pool (XAPI `/pool/xmldbdump`). @param id of the pool */
export function poolSource(objects: PoolObjects, id: string): MetadataSource {
  const name = nameOf(objects, id);
  return {
    type: "pool",
    id,
    name,
    async describe() {
      const { xapi, ref } = objects.get(id, "pool");
      const pool = await read(xapi, "pool", ref);
      const master = await read(xapi, "host", textOf(pool, "master"));
      return {
        pool: { uuid: textOf(pool, "uuid"), name_label: nameIn(pool) },
        poolMaster: {
          uuid: textOf(master, "uuid"),
          name_label: textOf(master, "name_label"),
        },
      };
    },
    async read(work, use) {
      const { xapi } = objects.get(id, "pool");
      let result: Awaited<ReturnType<typeof use>> | undefined;
      // A truncated dump ends like a complete one; only its task shows the difference.
      await withStreamTask(
        xapi,
        `Backup of the database of ${name}`,
        { signal: work.signal, progress: () => undefined },
        async (task) => {
          result = await use({ disk: await toDisk(xapi, task) });
        },
      );
      return result!;
    },
  };
}

async function toDisk(xapi: Xapi, task: Ref) {
  const { tls, ...endpoint } = await xapi.streamTarget({
    path: DATABASE_PATH,
    task,
  });
  return {
    name: DATABASE_FILE,
    source: {
      type: "stream",
      format: "raw",
      maxSize: MAX_FILE_SIZE,
      ...endpoint,
      ...(tls === undefined ? {} : { tls: { certificates: tls.certificate } }),
    },
  } as const;
}

function nameOf(objects: PoolObjects, id: string): string {
  try {
    return nameIn(objects.get(id, "pool").object) || id;
  } catch (error) {
    // The item reports the error when it is read.
    if (error instanceof XoError) return id;
    throw error;
  }
}

function nameIn(pool: Readonly<Record<string, unknown>>): string {
  return textOf(pool, "name_label");
}
