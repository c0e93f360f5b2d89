import type { BackupDisk } from "@xo-server/backup";
import type { TaskContext } from "../../tasks/task-context.js";
import type { ArchivedItem } from "../archives/archive.js";
import type { RunItem } from "../run/run-items.js";

/** An item other than a VM that is backed up as one file. */
export interface MetadataSource extends RunItem {
  readonly type: ArchivedItem["type"];
  /** Returns the properties of the manifest that identify the source. @throws XapiError, XoError */
  describe(): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Opens the file for one order of a worker; closed when `use` has ended.
   * @throws XapiError, XoError, and what `use` throws
   */
  read<T>(work: TaskContext, use: (input: FileInput) => Promise<T>): Promise<T>;
}

interface FileInput {
  readonly disk: BackupDisk;
  /** Secrets of the manifest that are not part of the index. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Maximum size of one file, in bytes. */
export const MAX_FILE_SIZE = 4 * 2 ** 30;
