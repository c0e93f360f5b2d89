import { setTimeout as pause } from "node:timers/promises";
import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import { FOOTER_BYTES, readVhdSize } from "./vhd-footer.js";
import { peek } from "./peek.js";
import type { Delivery, TransferTask } from "./transfer.js";
import { retryWhileInUse } from "./retry-while-in-use.js";
import { sendToXapi } from "./xapi-streams.js";

type DiskFormat = "raw" | "vhd";

interface IncomingDisk {
  readonly format: DiskFormat;
  readonly name: string;
  /** Creates an empty disk. @param bytes its size @returns its opaque reference */
  readonly create: (bytes: number) => Promise<string>;
  /** Resolves when the contents are complete. Default: when XAPI has them. */
  readonly finished?: (() => Promise<void>) | undefined;
}

/** Persisted for `resume`. */
export interface KeptDisk {
  readonly vdi: Ref;
  /** It has its contents. */
  readonly isWhole?: boolean;
}

/** The task of an upload to a new disk. */
interface DiskTask extends Omit<TransferTask, "persistState"> {
  /** See TransferTask. */
  persistState(state: KeptDisk): Promise<void>;
}

/**
 * Creates a disk with these contents. If they are incomplete, the disk is
 * deleted; a complete one is left to the server that has adopted the task.
 * @returns its opaque reference
 */
export async function receiveDisk(
  { xapi }: PoolObject,
  delivery: Delivery,
  { format, name, create, finished }: IncomingDisk,
  work: DiskTask,
): Promise<Ref> {
  const vdi = await create(await sizeOf(format, delivery));
  try {
    await work.persistState({ vdi });
    await sendToXapi(
      xapi,
      {
        ...delivery,
        path: "/import_raw_vdi",
        query: { vdi, format },
        label: `Import of ${name}`,
      },
      work,
    );
    await finished?.();
  } catch (error) {
    // Deleting is retried while the pool is unreachable; the caller does not wait for that.
    await Promise.race([removeDisk(xapi, vdi), pause(REMOVED_WITHIN_MS)]);
    throw error;
  }
  await work.persistState({ vdi, isWhole: true });
  return vdi;
}

/** @throws XoError INVALID_PARAMETERS if the contents are larger than the disk */
export async function checkFits(
  format: DiskFormat,
  delivery: Delivery,
  bytes: number,
): Promise<void> {
  if (format === "raw" && delivery.length === undefined) return;
  const size = await sizeOf(format, delivery);
  if (size > bytes)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${size} bytes do not fit on a disk of ${bytes}`,
    });
}

async function sizeOf(
  format: DiskFormat,
  { body, length }: Delivery,
): Promise<number> {
  if (format === "vhd") return readVhdSize(await peek(body, FOOTER_BYTES));
  if (length !== undefined && length > 0) return length;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "Content-Length is required for raw contents",
  });
}

/** The failure is reported after this time, in ms, even if the disk is not deleted yet. */
const REMOVED_WITHIN_MS = 5_000;

/** @returns false: the disk is still in use and stays */
export async function removeDisk(
  xapi: PoolObject["xapi"],
  vdi: string,
): Promise<boolean> {
  const destroy = () => xapi.callAsync("VDI.destroy", [vdi]);
  return retryWhileInUse(destroy).then(
    () => true,
    (error: unknown) =>
      error instanceof XapiError && error.code === "HANDLE_INVALID",
  );
}
