import { Readable } from "node:stream";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/** Writes a small image to the beginning of a disk. */
export async function writeDisk(
  xapi: Xapi,
  vdi: Ref,
  image: Buffer,
): Promise<void> {
  const name = ["Import of a config drive", ""];
  const task = (await xapi.call("task.create", name)) as Ref;
  try {
    const ended = xapi.watchTask(task);
    // Waited for below; it may fail before that.
    ended.catch(() => undefined);
    await xapi.putStream(Readable.from([image]), {
      path: "/import_raw_vdi",
      query: { vdi, format: "raw" },
      contentLength: image.length,
      task,
    });
    await ended;
  } finally {
    await xapi.call("task.destroy", [task]).catch(() => undefined);
  }
}
