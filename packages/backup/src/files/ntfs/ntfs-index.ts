import { uint64 } from "../model/disk-fields.js";
import { damaged } from "../model/file-system-error.js";
import { recordNumber, repaired } from "./ntfs-record.js";

const HEADER = 16;
/** Names for DOS, beside the real one. */
const DOS_NAME = 2;

/** A name in a folder. */
export interface IndexEntry {
  readonly name: string;
  readonly record: number;
}

interface IndexNode {
  readonly entries: IndexEntry[];
  /** Numbers of the clusters, or blocks, of the nodes below. */
  readonly children: number[];
}

/** @param value of `$INDEX_ROOT` */
export function parseIndexRoot(value: Buffer): IndexNode & {
  /** Bytes of the other nodes. */
  readonly nodeSize: number;
} {
  return { ...entriesOf(value.subarray(16)), nodeSize: value.readUInt32LE(8) };
}

/** @param bytes of `$INDEX_ALLOCATION` */
export function parseIndexNode(bytes: Buffer): IndexNode {
  return entriesOf(repaired(bytes, "INDX").subarray(24));
}

/** @param bytes from the header of the entries on */
function entriesOf(bytes: Buffer): IndexNode {
  const node: IndexNode = { entries: [], children: [] };
  const end = Math.min(bytes.length, bytes.readUInt32LE(4));
  for (let at = bytes.readUInt32LE(0); at + HEADER <= end;) {
    const length = bytes.readUInt16LE(at + 8);
    const keyLength = bytes.readUInt16LE(at + 10);
    const flags = bytes.readUInt16LE(at + 12);
    if (length < HEADER || at + length > end)
      throw damaged("an entry of a folder is damaged");
    const entry = bytes.subarray(at, at + length);
    if ((flags & 1) !== 0) node.children.push(uint64(entry, length - 8));
    if ((flags & 2) !== 0) break;
    if (keyLength > 0) addEntry(node.entries, entry);
    at += length;
  }
  return node;
}

function addEntry(entries: IndexEntry[], entry: Buffer): void {
  if (entry[HEADER + 65] === DOS_NAME) return;
  const start = HEADER + 66;
  const end = start + 2 * entry[HEADER + 64]!;
  if (end > entry.length) throw damaged("a name in a folder is damaged");
  entries.push({
    name: entry.toString("utf16le", start, end),
    record: recordNumber(entry, 0),
  });
}
