import * as files from "node:fs/promises";

/**
 * The file system calls that the snapshot cache uses; tests inject failures
 * here.
 */
export type Disk = Pick<
  typeof files,
  "mkdir" | "open" | "readdir" | "readFile" | "rename" | "rm" | "rmdir"
>;

export const nodeDisk: Disk = files;
