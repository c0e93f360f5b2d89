import { mkdir } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import type { ImportImageOperation } from "@xo-server/backup";
import { openOutput } from "../backups/restore/open-download.js";
import type {
  WorkerRunOptions,
  Workers,
} from "../backups/repositories/workers.js";
import type { Delivery, TransferTask } from "../transfers/transfer.js";
import { toImportError } from "./import-error.js";

interface DiskImagesOptions {
  readonly workers: Pick<Workers, "run">;
  /** For temporary files. */
  readonly folder: string;
}

/** The disk of an uploaded image, as XAPI imports it. */
interface ImageContent extends Delivery {
  /** Resolves when the worker has sent everything. */
  readonly finished: () => Promise<void>;
}

/**
 * Reads disk images (qcow2, VMDK, VHDX) that XAPI does not import: a worker stores the upload in a temporary
 * file, because tables may be anywhere in it, and converts it.
 */
export class DiskImages {
  readonly #options: DiskImagesOptions;

  constructor(options: DiskImagesOptions) {
    this.#options = options;
  }

  /**
   * @param image the upload
   * @param format of the result: a VHD has no blocks without data; raw content also overwrites what a disk has there
   * @returns when the upload is complete
   * @throws XoError INVALID_PARAMETERS, IMPORT_SOURCE_FAILED, ABORTED; the error of the upload
   */
  async open(
    image: Readable,
    format: ImportImageOperation["format"],
    work: TransferTask,
  ): Promise<ImageContent> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const operation = { type: "import-image", folder, format } as const;
    const { body, length, finished } = await openOutput(
      (options) => this.#run(operation, image, options),
      work,
    );
    return { body, length, finished: finished! };
  }

  async #run(
    operation: ImportImageOperation,
    image: Readable,
    { signal, ...options }: WorkerRunOptions,
  ): Promise<void> {
    const broken = new AbortController();
    const { workers } = this.#options;
    await workers
      .run(
        { operation },
        {
          ...options,
          signal: AbortSignal.any([broken.signal, signal!]),
          onStart(worker) {
            options.onStart?.(worker);
            // If the worker ends first, it reports why; an incomplete upload must not be taken for a complete image.
            pipeline(image, worker.input!, () => {
              if (image.errored !== null) broken.abort();
            });
          },
        },
      )
      .catch((error: unknown) => {
        throw image.errored ?? toImportError(error);
      });
  }
}
