import * as files from "node:fs/promises";

/** What a memory needs of the file system; tests let it fail. */
export type Disk = Pick<
  typeof files,
  "mkdir" | "open" | "readdir" | "readFile" | "rename" | "rm" | "rmdir"
>;

export const nodeDisk: Disk = files;
