import { uint64 } from "../model/disk-fields.js";
import { damaged, unsupported } from "../model/file-system-error.js";
import type {
  FileNode,
  FileSystem,
  FolderEntry,
} from "../model/file-system.js";
import { collect } from "../model/file-runs.js";
import { MAX_READ, type ReadableDisk } from "../model/readable-disk.js";
import {
  parseIndexNode,
  parseIndexRoot,
  type IndexEntry,
} from "./ntfs-index.js";
import {
  ATTRIBUTE,
  decodeRunList,
  ntfsTime,
  parseRecord,
  recordNumber,
  type ClusterRun,
  type NtfsAttribute,
  type NtfsRecord,
} from "./ntfs-record.js";
import { contentOfAttribute } from "./ntfs-stream.js";
import { parseReparsePoint, type ReparsePoint } from "./reparse-point.js";

/** Records of the system. */
const MFT = 0;
const VOLUME = 3;
const ROOT = 5;
/** Below are files of the system, which no user sees. */
const FIRST_USER_RECORD = 16;
/** Bytes of a list of attributes at most; Windows allows 256 KiB. */
const MAX_LIST = 1024 * 1024;
const MAX_MFT_RUNS = 1_000_000;
const FOLDER_INDEX = "$I30";

interface Layout {
  /** Bytes. */
  readonly clusterSize: number;
  readonly recordSize: number;
  /** Number of the first cluster of the table of records. */
  readonly mft: number;
}

/** NTFS 3.0 and 3.1. Source: the layout of ntfs-3g, include/ntfs-3g/layout.h. */
export class NtfsFileSystem implements FileSystem {
  readonly type = "ntfs";
  label = "";
  wasInUse: boolean | undefined;
  readonly #disk: ReadableDisk;
  readonly #layout: Layout;
  #mftRuns: ClusterRun[];

  private constructor(disk: ReadableDisk, layout: Layout) {
    this.#disk = disk;
    this.#layout = layout;
    this.#mftRuns = [{ cluster: layout.mft, count: 16 }];
  }

  /** @throws FileSystemError */
  static async open(disk: ReadableDisk): Promise<NtfsFileSystem> {
    const layout = parseBootSector(await disk.read(0, 512));
    const fileSystem = new NtfsFileSystem(disk, layout);
    await fileSystem.#readTable();
    await fileSystem.#readVolume();
    return fileSystem;
  }

  root(): Promise<FileNode> {
    return this.#node(ROOT);
  }

  /** Runs of the table of records: those in its first record lead to the others. */
  async #readTable(): Promise<void> {
    const table = await this.#record(MFT);
    const own = table.attributes.filter(
      ({ type, name }) => type === ATTRIBUTE.data && name === "",
    );
    this.#mftRuns = own.flatMap(({ runList }) => [...decodeRunList(runList)]);
    const runs: ClusterRun[] = [];
    for await (const { runList } of this.#parts(table, ATTRIBUTE.data)) {
      runs.push(...decodeRunList(runList));
      if (runs.length > MAX_MFT_RUNS)
        throw damaged("the MFT has too many runs");
    }
    this.#mftRuns = runs;
  }

  async #readVolume(): Promise<void> {
    const { attributes } = await this.#record(VOLUME);
    const valueOf = (wanted: number) =>
      attributes.find(({ type }) => type === wanted)?.value;
    this.label = valueOf(ATTRIBUTE.volumeName)?.toString("utf16le") ?? "";
    const information = valueOf(ATTRIBUTE.volumeInformation);
    if (information !== undefined)
      this.wasInUse = (information.readUInt16LE(10) & 1) !== 0;
  }

  async #record(number: number): Promise<NtfsRecord> {
    const { recordSize, clusterSize } = this.#layout;
    const parts: Buffer[] = [];
    // A cluster may be smaller than a record.
    const step = Math.min(recordSize, clusterSize);
    for (let done = 0; done < recordSize; done += step)
      parts.push(
        await this.#disk.read(
          this.#tableOffset(number * recordSize + done),
          step,
        ),
      );
    return parseRecord(Buffer.concat(parts), number);
  }

  /** @param at bytes from the beginning of the table of records */
  #tableOffset(at: number): number {
    const { clusterSize } = this.#layout;
    let index = Math.floor(at / clusterSize);
    for (const { cluster, count } of this.#mftRuns) {
      if (index < count && cluster !== undefined)
        return (cluster + index) * clusterSize + (at % clusterSize);
      index -= count;
    }
    throw damaged("a record is not in the MFT");
  }

  async #node(number: number): Promise<FileNode> {
    const record = await this.#record(number);
    const point = await this.#reparsePoint(record);
    const data = await this.#first(record, ATTRIBUTE.data);
    const isLink = point.target !== undefined;
    const { isFolder } = record;
    const information = record.attributes.find(
      ({ type }) => type === ATTRIBUTE.information,
    )?.value;
    return {
      kind: isLink ? "link" : isFolder ? "folder" : "file",
      id: String(number),
      size: isFolder || isLink ? 0 : (data?.size ?? 0),
      modified: information === undefined ? 0 : ntfsTime(information, 8),
      entries: () => this.#entries(record),
      content: () => this.#content(record, point),
      target: async () => point.target ?? "",
    };
  }

  async #reparsePoint(record: NtfsRecord): Promise<ReparsePoint> {
    const attribute = await this.#first(record, ATTRIBUTE.reparsePoint);
    if (attribute === undefined) return {};
    const parts = this.#parts(record, ATTRIBUTE.reparsePoint);
    const content = contentOfAttribute(this.#volume, attribute, parts);
    return parseReparsePoint(await collect(content, 65_536));
  }

  async *#content(
    record: NtfsRecord,
    point: ReparsePoint,
  ): AsyncGenerator<Buffer, void> {
    if (point.unsupported !== undefined) throw unsupported(point.unsupported);
    const first = await this.#first(record, ATTRIBUTE.data);
    if (first === undefined) return;
    const parts = this.#parts(record, ATTRIBUTE.data);
    yield* contentOfAttribute(this.#volume, first, parts);
  }

  get #volume(): { readonly disk: ReadableDisk; readonly clusterSize: number } {
    return { disk: this.#disk, clusterSize: this.#layout.clusterSize };
  }

  async #first(
    record: NtfsRecord,
    type: number,
    name = "",
  ): Promise<NtfsAttribute | undefined> {
    for await (const part of this.#parts(record, type, name)) return part;
    return undefined;
  }

  /** The parts of an attribute in order, also those in other records. */
  async *#parts(
    record: NtfsRecord,
    type: number,
    name = "",
  ): AsyncGenerator<NtfsAttribute, void> {
    const isWanted = (one: NtfsAttribute) =>
      one.type === type && one.name === name;
    const list = record.attributes.find((one) => one.type === ATTRIBUTE.list);
    if (list === undefined) {
      yield* record.attributes.filter(isWanted);
      return;
    }
    const content = contentOfAttribute(this.#volume, list, once(list));
    const bytes = await collect(content, MAX_LIST);
    for (const { number, firstCluster } of listed(bytes, { type, name })) {
      const other =
        number === record.number ? record : await this.#record(number);
      yield* other.attributes.filter(
        (one) => isWanted(one) && one.firstCluster === firstCluster,
      );
    }
  }

  async *#entries(record: NtfsRecord): AsyncGenerator<FolderEntry, void> {
    for await (const { name, record: number } of this.#indexEntries(record))
      if (number >= FIRST_USER_RECORD)
        yield { name, open: () => this.#node(number) };
  }

  async *#indexEntries(record: NtfsRecord): AsyncGenerator<IndexEntry, void> {
    const { indexRoot, indexAllocation } = ATTRIBUTE;
    const top = await this.#first(record, indexRoot, FOLDER_INDEX);
    if (top?.value === undefined) throw damaged("a folder has no index");
    const root = parseIndexRoot(top.value);
    yield* root.entries;
    if (root.children.length === 0) return;
    const runs: ClusterRun[] = [];
    for await (const { runList } of this.#parts(
      record,
      indexAllocation,
      FOLDER_INDEX,
    ))
      runs.push(...decodeRunList(runList));
    yield* this.#nodesBelow(root.children, { runs, nodeSize: root.nodeSize });
  }

  /** @param first numbers of nodes */
  async *#nodesBelow(
    first: readonly number[],
    {
      runs,
      nodeSize,
    }: { readonly runs: readonly ClusterRun[]; readonly nodeSize: number },
  ): AsyncGenerator<IndexEntry, void> {
    const { clusterSize } = this.#layout;
    if (nodeSize < 512 || nodeSize > MAX_READ / 4)
      throw damaged("the index of a folder is damaged");
    // Nodes that are smaller than a cluster are counted in sectors.
    const unit = nodeSize >= clusterSize ? clusterSize : 512;
    const seen = new Set<number>();
    const pending = [...first];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (seen.has(node)) throw damaged("the index of a folder is a circle");
      seen.add(node);
      const bytes = await this.#readRuns(runs, node * unit, nodeSize);
      const { entries, children } = parseIndexNode(bytes);
      yield* entries;
      pending.push(...children);
    }
  }

  /** Bytes of an attribute. @param runs all of it @param at bytes from its beginning */
  async #readRuns(
    runs: readonly ClusterRun[],
    at: number,
    length: number,
  ): Promise<Buffer> {
    const { clusterSize } = this.#layout;
    const parts: Buffer[] = [];
    let start = 0;
    let done = 0;
    for (const { cluster, count } of runs) {
      const end = start + count * clusterSize;
      const from = at + done;
      if (from < end && done < length) {
        if (cluster === undefined) throw damaged("an index has a hole");
        const bytes = Math.min(end - from, length - done);
        const offset = cluster * clusterSize + (from - start);
        parts.push(await this.#disk.read(offset, bytes));
        done += bytes;
      }
      start = end;
    }
    if (done < length) throw damaged("the index of a folder is cut");
    return Buffer.concat(parts);
  }
}

/** Entries of a list of attributes. */
function* listed(
  bytes: Buffer,
  wanted: { readonly type: number; readonly name: string },
): Generator<{ readonly number: number; readonly firstCluster: number }> {
  for (let at = 0; at + 26 <= bytes.length;) {
    const length = bytes.readUInt16LE(at + 4);
    if (length < 26) throw damaged("a list of attributes is damaged");
    const nameAt = at + bytes[at + 7]!;
    const name = bytes.toString("utf16le", nameAt, nameAt + 2 * bytes[at + 6]!);
    if (bytes.readUInt32LE(at) === wanted.type && name === wanted.name)
      yield {
        number: recordNumber(bytes, at + 16),
        firstCluster: uint64(bytes, at + 8),
      };
    at += length;
  }
}

/** @throws FileSystemError `file-system-damaged` */
function parseBootSector(bytes: Buffer): Layout {
  const sector = bytes.readUInt16LE(11);
  const perCluster = bytes[13]!;
  const clusterSize =
    sector * (perCluster > 128 ? 2 ** (256 - perCluster) : perCluster);
  const records = bytes.readInt8(64);
  const recordSize = records > 0 ? records * clusterSize : 2 ** -records;
  const isPower = (value: number) => Number.isInteger(Math.log2(value));
  if (
    !isPower(clusterSize) ||
    clusterSize < 512 ||
    clusterSize > 2 * 1024 * 1024 ||
    !isPower(recordSize) ||
    recordSize < 512 ||
    recordSize > 65_536
  )
    throw damaged("the boot sector of the NTFS file system is damaged");
  return { clusterSize, recordSize, mft: uint64(bytes, 48) };
}

async function* once(part: NtfsAttribute): AsyncGenerator<NtfsAttribute, void> {
  yield part;
}
