import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import type { FileNode } from "../src/files/model/file-system.js";
import {
  checkRange,
  type ReadableDisk,
} from "../src/files/model/readable-disk.js";

/** What was written to a file system, and is to be read. */
interface WrittenFile {
  readonly kind: "file" | "folder" | "link";
  readonly size?: number;
  /** Milliseconds since the epoch; not known of file systems that do not keep times of the source. */
  readonly modified?: number;
  readonly sha256?: string;
  readonly target?: string;
}

export interface Fixture {
  readonly disk: ReadableDisk;
  /** By path. */
  readonly files: Readonly<Record<string, WrittenFile>>;
  /** Id of the volume that has the files. */
  readonly partition?: string;
  readonly volumes?: readonly string[];
}

interface Head {
  readonly size: number;
  /** Offset and length of what is not zero. */
  readonly blocks: readonly (readonly [number, number])[];
}

/**
 * A disk that programs of Debian 12 have written: mke2fs, mkfs.xfs, mkfs.vfat and mcopy, ntfs-3g, sfdisk,
 * and vgcfgrestore of LVM2. The file is Brotli of a line of JSON and of the blocks that are not zero.
 */
export function readFixture(name: string): Fixture {
  const path = new URL(`../../test/fixtures/${name}.br`, import.meta.url);
  const bytes = brotliDecompressSync(readFileSync(fileURLToPath(path)));
  const end = bytes.indexOf("\n");
  const head = JSON.parse(bytes.toString("utf8", 0, end)) as Head &
    Omit<Fixture, "disk">;
  return { ...head, disk: sparseDisk(head, bytes.subarray(end + 1)) };
}

function sparseDisk({ size, blocks }: Head, data: Buffer): ReadableDisk {
  let at = 0;
  const parts = blocks.map(([offset, length]) => {
    const part = { offset, bytes: data.subarray(at, at + length) };
    at += length;
    return part;
  });
  return {
    size,
    async read(offset, length) {
      checkRange({ size }, offset, length);
      const result = Buffer.alloc(length);
      for (let i = firstBehind(parts, offset); i < parts.length; i++) {
        const part = parts[i]!;
        if (part.offset >= offset + length) break;
        const skipped = Math.max(0, offset - part.offset);
        part.bytes.copy(result, part.offset + skipped - offset, skipped);
      }
      return result;
    },
  };
}

/** Index of the first part that ends behind an offset. @param parts in order */
function firstBehind(
  parts: readonly { readonly offset: number; readonly bytes: Buffer }[],
  offset: number,
): number {
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const part = parts[middle]!;
    if (part.offset + part.bytes.length <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Everything below a folder, as it was written. */
export async function readTree(
  folder: FileNode,
  prefix = "",
): Promise<Record<string, WrittenFile>> {
  const files: Record<string, WrittenFile> = {};
  for await (const { name, open } of folder.entries()) {
    if (name === "lost+found") continue;
    const node = await open();
    const path = `${prefix}/${name}`;
    if (node.kind === "folder") {
      files[path] = { kind: "folder" };
      Object.assign(files, await readTree(node, path));
    } else if (node.kind === "link")
      files[path] = { kind: "link", target: await node.target() };
    else files[path] = await fileOf(node);
  }
  return files;
}

async function fileOf(node: FileNode): Promise<WrittenFile> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const bytes of node.content()) {
    hash.update(bytes);
    size += bytes.length;
  }
  if (size !== node.size) throw new Error(`${size} bytes of ${node.size}`);
  const sha256 = hash.digest("hex");
  return { kind: "file", size, modified: node.modified, sha256 };
}
