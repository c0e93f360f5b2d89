import type { HttpEndpoint } from "../net/http-endpoint.js";

/** Where a disk of a backup is written to. */
export type RestoreTarget = FileTarget | UploadTarget | PipeTarget;

export interface FileTarget {
  readonly type: "file";
  /** A file or a block device. */
  readonly path: string;
  /** `new` creates a sparse file, `differences` changes an existing target. */
  readonly mode: "new" | "differences";
}

/** The body of an HTTP PUT, with a Content-Length. */
export interface UploadTarget extends HttpEndpoint {
  readonly type: "upload";
  /** `vhd` holds only blocks that are not zero, `raw` the whole disk. */
  readonly format: "vhd" | "raw";
  /**
   * Only for `vhd`: id of another backup with a disk of this name, whose content the
   * target has. The VHD then holds only the blocks that differ.
   */
  readonly base?: string;
}

/** `Worker.output`. The progress figure `total`, its size in bytes, is reported before its first byte. */
interface PipeTarget {
  readonly type: "pipe";
  readonly format: "vhd" | "raw";
}
