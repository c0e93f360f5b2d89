import { nameOf, uint64BE } from "../model/disk-fields.js";
import { damaged } from "../model/file-system-error.js";

interface XfsEntry {
  readonly name: string;
  readonly inode: number;
}

interface FolderFormat {
  readonly hasFileType: boolean;
  readonly isVersion5: boolean;
}

/** A small folder in its inode. */
export function* shortEntries(
  fork: Buffer,
  { hasFileType }: FolderFormat,
): Generator<XfsEntry> {
  const isLong = fork[1]! > 0;
  const count = isLong ? fork[1]! : fork[0]!;
  const numberSize = isLong ? 8 : 4;
  let at = 2 + numberSize;
  for (let i = 0; i < count; i++) {
    const nameEnd = at + 3 + fork[at]!;
    const numberAt = nameEnd + (hasFileType ? 1 : 0);
    if (numberAt + numberSize > fork.length) throw damaged("a folder is cut");
    yield {
      name: nameOf(fork.subarray(at + 3, nameEnd)),
      inode: isLong ? uint64BE(fork, numberAt) : fork.readUInt32BE(numberAt),
    };
    at = numberAt + numberSize;
  }
}

const BLOCK_MAGICS: ReadonlySet<string> = new Set(["XD2B", "XDB3"]);
const DATA_MAGICS: ReadonlySet<string> = new Set(["XD2D", "XDD3"]);
const UNUSED = 0xffff;

/** A block of a folder. */
export function* blockEntries(
  block: Buffer,
  { hasFileType, isVersion5 }: FolderFormat,
): Generator<XfsEntry> {
  const magic = block.toString("latin1", 0, 4);
  const isWhole = BLOCK_MAGICS.has(magic);
  if (!isWhole && !DATA_MAGICS.has(magic))
    throw damaged("a block of a folder is damaged");
  // The only block of a folder has an index at its end.
  const index = isWhole ? 8 + block.readUInt32BE(block.length - 8) * 8 : 0;
  const end = block.length - index;
  for (let at = isVersion5 ? 64 : 16; at + 12 <= end;) {
    if (block.readUInt16BE(at) === UNUSED) {
      const length = block.readUInt16BE(at + 2);
      if (length === 0 || length % 8 !== 0)
        throw damaged("a block of a folder is damaged");
      at += length;
      continue;
    }
    const nameAt = at + 9;
    const nameEnd = nameAt + block[at + 8]!;
    if (nameEnd > end) throw damaged("a name in a folder is damaged");
    const name = nameOf(block.subarray(nameAt, nameEnd));
    if (name !== "." && name !== "..")
      yield { name, inode: uint64BE(block, at) };
    // Type and place of the entry follow the name.
    const length = nameEnd - at + (hasFileType ? 1 : 0) + 2;
    at += Math.ceil(length / 8) * 8;
  }
}
