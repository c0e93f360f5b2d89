import type { FileHandle } from "node:fs/promises";
import type { Disk } from "./disk.js";
import { HEAD_BYTES, headProblem } from "./file-head.js";
import type { SnapshotStatus } from "./frame.js";
import { restoreFile } from "./read-snapshot.js";
import type { RestoredStore } from "./restore-store.js";
import type { SnapshotThread } from "./snapshot-thread.js";
import type { SnapshotCopy } from "./snapshot-copy.js";

interface ReadCopyOptions {
  readonly disk: Disk;
  readonly thread: SnapshotThread;
  /** Where the copy is stored while it is read, encrypted as it was sent. */
  readonly path: string;
}

export interface RestoredCopy extends Pick<RestoredStore, "content"> {
  readonly status: SnapshotStatus;
}

/**
 * Receives a copy, and builds the objects from it. The file is deleted: it is
 * encrypted with the key of another server.
 * @throws Error it is incomplete, damaged, of another version, or has other objects than announced
 */
export async function readCopy(
  copy: SnapshotCopy,
  { disk, thread, path }: ReadCopyOptions,
): Promise<RestoredCopy> {
  const file = await disk.open(path, "w+", 0o600);
  try {
    for await (const chunk of copy.body) await file.writeFile(chunk as Buffer);
    await checkHead(file);
    return check(copy, await restoreFile({ file, thread, ...copy }));
  } finally {
    await file.close();
    await disk.rm(path, { force: true });
  }
}

async function checkHead(file: FileHandle): Promise<void> {
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  const problem = headProblem(head.subarray(0, bytesRead));
  if (problem !== undefined) throw new Error(problem);
}

/** @throws Error */
function check(
  { bytes, objects, digest }: SnapshotCopy,
  { status, validBytes, content, summary }: RestoredStore,
): RestoredCopy {
  if (validBytes !== bytes)
    throw new Error(`it is damaged after ${validBytes} of ${bytes} bytes`);
  if (status?.position === undefined)
    throw new Error("it has no event position");
  if (summary.objects !== objects || summary.digest !== digest)
    throw new Error(
      `it has ${summary.objects} objects with digest ${summary.digest} instead of ${objects} with ${digest}`,
    );
  return { status, content };
}
