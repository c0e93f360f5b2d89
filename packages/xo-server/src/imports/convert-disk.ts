import { WorkerError, type ConvertOperation } from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import type {
  WorkerRunOptions,
  Workers,
} from "../backups/repositories/workers.js";
import { openOutput } from "../backups/restore/open-download.js";
import type { PoolObject } from "../objects/pool-objects.js";
import type { Source, TransferTask } from "../transfers/transfer.js";
import { withStreamTask } from "../transfers/xapi-streams.js";

interface ConvertedDisk {
  readonly vdi: PoolObject;
  readonly format: ConvertOperation["format"];
  /** Name of the XAPI task. */
  readonly label: string;
}

/**
 * Opens the contents of a disk in a format that XAPI does not export: a worker reads them as VHD.
 * @throws XapiError of the export; XoError DISK_CONVERSION_FAILED, ABORTED
 */
export function openConvertedDisk(
  disk: ConvertedDisk,
  workers: Pick<Workers, "run">,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  return openOutput(
    (options) => convert(disk, workers, { ...work, ...options }),
    work,
  );
}

async function convert(
  { vdi: { xapi, ref, object }, format, label }: ConvertedDisk,
  workers: Pick<Workers, "run">,
  work: Pick<TransferTask, "progress"> & WorkerRunOptions,
): Promise<void> {
  const { signal, progress, onProgress, onStart } = work;
  await withStreamTask(
    xapi,
    label,
    { signal: signal!, progress },
    async (task) => {
      const { tls, ...endpoint } = await xapi.streamTarget({
        path: "/export_raw_vdi",
        query: { vdi: ref, format: "vhd" },
        task,
      });
      const source = {
        type: "stream",
        format: "vhd",
        ...endpoint,
        ...(tls === undefined
          ? {}
          : { tls: { certificates: tls.certificate } }),
      } as const;
      const size = Number(object["size"]);
      const operation = { type: "convert", source, size, format } as const;
      await workers
        .run({ operation }, { signal, onProgress, onStart })
        .catch((error: unknown) => {
          throw toConversionError(error);
        });
    },
  );
}

function toConversionError(error: unknown): unknown {
  if (!(error instanceof WorkerError)) return error;
  const { code, message: reason } = error;
  return code === "cancelled"
    ? new XoError("ABORTED", { what: "the export" }, error)
    : new XoError("DISK_CONVERSION_FAILED", { reason }, error);
}
