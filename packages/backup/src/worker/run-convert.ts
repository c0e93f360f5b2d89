import { pipeline } from "node:stream/promises";
import { openQcow2Image } from "../convert/qcow2-image.js";
import { openVmdkImage } from "../convert/vmdk-image.js";
import { openVhd } from "../source/open-sources.js";
import { openOutput } from "./open-output.js";
import type { OrderContext } from "./order-context.js";
import type { ConvertResult } from "./order-results.js";
import type { ConvertOperation } from "./work-order.js";

/** @throws RepositoryError `source-invalid`, `transfer-failed`, `untrusted` */
export async function runConvert(
  { source, size, format }: ConvertOperation,
  { signal, onProgress }: OrderContext,
): Promise<ConvertResult> {
  const disk = openVhd(source, size);
  const image =
    format === "qcow2"
      ? await openQcow2Image(disk, signal)
      : openVmdkImage(disk, signal);
  onProgress({ total: image.length ?? 0 });
  let written = 0;
  async function* counted(): AsyncGenerator<Buffer, void> {
    for await (const bytes of image.content()) {
      yield bytes;
      written += bytes.length;
    }
  }
  await pipeline(counted(), openOutput(), { signal });
  return { written };
}
