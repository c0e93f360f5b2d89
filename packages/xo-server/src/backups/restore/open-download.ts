import type { Readable } from "node:stream";
import type {
  ExportOperation,
  FetchFilesOperation,
  RestoreOperation,
} from "@xo-server/backup";
import type { Source, TransferTask } from "../../transfers/transfer.js";
import type { Repositories } from "../repositories/repositories.js";
import type { WorkerRunOptions } from "../repositories/workers.js";

interface DownloadRequest {
  readonly repository: string;
  /** An operation whose target is a pipe. */
  readonly operation: RestoreOperation | ExportOperation | FetchFilesOperation;
  /** Value of `Content-Type`. */
  readonly type: string;
}

const TYPES = { raw: "application/octet-stream", vhd: "application/vhd" };

/** The download of one disk. */
export function diskDownload({
  repository,
  format,
  ...disk
}: {
  readonly repository: string;
  readonly backup: string;
  readonly disk: string;
  readonly format: "raw" | "vhd";
}): DownloadRequest {
  const target = { type: "pipe", format } as const;
  return {
    repository,
    operation: { type: "restore", ...disk, target },
    type: TYPES[format],
  };
}

/**
 * Opens a download that a worker reads from a backup: the worker writes into a
 * pipe, which the response reads at its own pace.
 * @throws XoError BACKUP_*, ABORTED
 */
export async function openDownload(
  repositories: Pick<Repositories, "run">,
  { repository, operation, type }: DownloadRequest,
  work: TransferTask,
): Promise<Source> {
  return {
    type,
    ...(await openOutput(
      (options) => repositories.run(repository, operation, options),
      work,
    )),
  };
}

/**
 * Opens what a worker writes.
 * @param run starts it; its progress has `total` before the first byte: the bytes, or 0 if that is not known
 * @throws errors of `run`
 */
export async function openOutput(
  run: (options: WorkerRunOptions) => Promise<unknown>,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  let body: Readable | undefined;
  const ended = new AbortController();
  const signal = AbortSignal.any([work.signal, ended.signal]);
  let begin: (length: number) => void = () => undefined;
  const begun = new Promise<number>((resolve) => (begin = resolve));
  const finished = run({
    signal,
    onProgress: ({ total }) => {
      if (total !== undefined) begin(total);
    },
    onStart(worker) {
      body = worker.output;
      // The client has disconnected: the worker would wait for it forever.
      body?.once("close", () => {
        if (body?.readableEnded !== true) ended.abort();
      });
    },
  });
  finished.catch((error: unknown) => {
    body?.destroy(error as Error);
  });
  // A failure before the first byte makes the request fail, a later one the body.
  const length = await Promise.race([begun, finished.then(() => begun)]);
  return {
    body: body!,
    ...(length === 0 ? {} : { length }),
    finished: async () => {
      await finished;
    },
  };
}
