import { Readable } from "node:stream";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { untrackedTask } from "../../tasks/task-context.js";
import { sendToXapi } from "../../transfers/xapi-streams.js";

/**
 * Writes a small image to the beginning of a disk.
 * @throws XapiError, XoError of the connection
 */
export async function writeDisk(
  xapi: Xapi,
  vdi: Ref,
  image: Buffer,
): Promise<void> {
  await sendToXapi(
    xapi,
    {
      path: "/import_raw_vdi",
      query: { vdi, format: "raw" },
      label: "Import of a config drive",
      body: Readable.from([image]),
      length: image.length,
    },
    // The XAPI task reports progress and is cancelled, see TrackedXapi.
    untrackedTask,
  );
}
