import type { Readable } from "node:stream";
import type { Source, TransferTask } from "../../transfers/transfer.js";
import type { Repositories } from "../repositories/repositories.js";

const TYPES = { raw: "application/octet-stream", vhd: "application/vhd" };

export interface DownloadRequest {
  readonly repository: string;
  readonly backup: string;
  readonly disk: string;
  readonly format: "raw" | "vhd";
}

/**
 * The content of a disk of a backup: a worker writes into a pipe, which the
 * response reads at its own pace.
 * @throws XoError BACKUP_*, ABORTED
 */
export async function openDownload(
  repositories: Pick<Repositories, "run">,
  { repository, backup, disk, format }: DownloadRequest,
  work: TransferTask,
): Promise<Source> {
  let body: Readable | undefined;
  const ended = new AbortController();
  const signal = AbortSignal.any([work.signal, ended.signal]);
  let begin: (length: number) => void = () => undefined;
  const begun = new Promise<number>((resolve) => (begin = resolve));
  const finished = repositories.run(
    repository,
    { type: "restore", backup, disk, target: { type: "pipe", format } },
    {
      signal,
      onProgress: ({ total }) => {
        if (total !== undefined) begin(total);
      },
      onStart(worker) {
        body = worker.output;
        // The client has disconnected: the worker must not wait for it.
        body?.once("close", () => {
          if (body?.readableEnded !== true) ended.abort();
        });
      },
    },
  );
  finished.catch((error: unknown) => {
    body?.destroy(error as Error);
  });
  // Before the first byte a failure is that of the request, afterwards that of the body.
  const length = await Promise.race([begun, finished.then(() => begun)]);
  return {
    type: TYPES[format],
    body: body!,
    length,
    finished: async () => {
      await finished;
    },
  };
}
