import { damaged } from "../model/file-system-error.js";
import type {
  FileNode,
  FileSystem,
  FolderEntry,
} from "../model/file-system.js";
import { contentOfRuns, type FileRun } from "../model/file-runs.js";
import type { ReadableDisk } from "../model/readable-disk.js";
import { readFatLayout, type FatLayout } from "./fat-boot-sector.js";
import { FatEntries, type FatEntry } from "./fat-entries.js";

/** Bytes of the table that are read at once. */
const TABLE_BLOCK = 4096;
/** Bytes of a folder at most: 65,536 entries. */
const MAX_FOLDER = 65_536 * 32;

/** FAT12, FAT16 and FAT32. */
export class FatFileSystem implements FileSystem {
  readonly type = "vfat";
  readonly wasInUse = undefined;
  readonly #disk: ReadableDisk;
  readonly #layout: FatLayout;
  /** The part of the table that was read last. */
  #table: { readonly index: number; readonly bytes: Buffer } | undefined;

  private constructor(disk: ReadableDisk, layout: FatLayout) {
    this.#disk = disk;
    this.#layout = layout;
  }

  /** @throws FileSystemError */
  static async open(disk: ReadableDisk): Promise<FatFileSystem> {
    return new FatFileSystem(disk, await readFatLayout(disk));
  }

  get label(): string {
    return this.#layout.label;
  }

  async root(): Promise<FileNode> {
    return this.#folder({ id: "root", modified: 0, cluster: 0 });
  }

  #folder({
    cluster,
    ...known
  }: {
    readonly id: string;
    readonly modified: number;
    /** 0: the root. */
    readonly cluster: number;
  }): FileNode {
    return {
      ...known,
      kind: "folder",
      size: 0,
      entries: () => this.#entries(cluster),
      content: () => {
        throw damaged("a folder has no content");
      },
      target: noLink,
    };
  }

  #node(entry: FatEntry, folder: number): FileNode {
    const { cluster, size, modified, isFolder, position } = entry;
    const id = isFolder ? `folder ${cluster}` : `${folder} ${position}`;
    if (isFolder) return this.#folder({ id, modified, cluster });
    return {
      kind: "file",
      id,
      size,
      modified,
      entries: () => {
        throw damaged("a file has no entries");
      },
      content: () =>
        contentOfRuns(this.#disk, this.#fileRuns(cluster, size), size),
      target: noLink,
    };
  }

  async *#entries(folder: number): AsyncGenerator<FolderEntry, void> {
    const entries = new FatEntries(this.#layout.bits === 32);
    for await (const block of this.#folderContent(folder)) {
      for (const entry of entries.read(block))
        yield {
          name: entry.name,
          open: async () => this.#node(entry, folder),
        };
      if (entries.ended) return;
    }
  }

  #folderContent(cluster: number): AsyncIterable<Buffer> {
    const { bits, rootOffset, rootSize, rootCluster } = this.#layout;
    if (cluster === 0 && bits !== 32) {
      const root: FileRun = { offset: rootOffset, length: rootSize };
      return contentOfRuns(this.#disk, once(root), rootSize);
    }
    const first = cluster === 0 ? rootCluster : cluster;
    return this.#folderClusters(first);
  }

  /** The clusters of a folder, whose size is not stored. */
  async *#folderClusters(first: number): AsyncGenerator<Buffer, void> {
    for await (const run of this.#runs(first, MAX_FOLDER))
      yield* contentOfRuns(this.#disk, once(run), run.length);
  }

  /** @throws FileSystemError `file-system-damaged` if the chain is shorter than the file */
  async *#fileRuns(first: number, size: number): AsyncGenerator<FileRun, void> {
    let found = 0;
    for await (const run of this.#runs(first, size)) {
      found += run.length;
      yield run;
    }
    if (found < size) throw damaged("the clusters of a file are missing");
  }

  /** The runs of a chain of clusters. @param size bytes at most, so that a chain in a circle ends */
  async *#runs(first: number, size: number): AsyncGenerator<FileRun, void> {
    const { clusterSize, clusters, dataOffset } = this.#layout;
    let cluster = first;
    let run: { offset: number; length: number } | undefined;
    for (let done = 0; done < size; done += clusterSize) {
      if (cluster < 2 || cluster >= clusters + 2) break;
      const offset = dataOffset + (cluster - 2) * clusterSize;
      if (run !== undefined && run.offset + run.length === offset)
        run.length += clusterSize;
      else {
        if (run !== undefined) yield run;
        run = { offset, length: clusterSize };
      }
      cluster = await this.#next(cluster);
    }
    if (run !== undefined) yield run;
  }

  async #next(cluster: number): Promise<number> {
    const { bits } = this.#layout;
    if (bits === 32) {
      const bytes = await this.#tableBytes(cluster * 4, 4);
      return bytes.readUInt32LE(0) & 0x0fffffff;
    }
    if (bits === 16)
      return (await this.#tableBytes(cluster * 2, 2)).readUInt16LE(0);
    const bytes = await this.#tableBytes(Math.floor(cluster * 1.5), 2);
    const pair = bytes.readUInt16LE(0);
    return cluster % 2 === 0 ? pair & 0xfff : pair >> 4;
  }

  async #tableBytes(at: number, length: number): Promise<Buffer> {
    const index = Math.floor(at / TABLE_BLOCK);
    const start = at - index * TABLE_BLOCK;
    // An entry of 12 bits may be in two parts.
    if (start + length > TABLE_BLOCK)
      return this.#disk.read(this.#layout.fatOffset + at, length);
    if (this.#table?.index !== index) {
      const offset = this.#layout.fatOffset + index * TABLE_BLOCK;
      const size = Math.min(TABLE_BLOCK, this.#disk.size - offset);
      this.#table = { index, bytes: await this.#disk.read(offset, size) };
    }
    return this.#table.bytes.subarray(start, start + length);
  }
}

async function* once(run: FileRun): AsyncGenerator<FileRun, void> {
  yield run;
}

function noLink(): Promise<string> {
  throw damaged("FAT has no symbolic links");
}
