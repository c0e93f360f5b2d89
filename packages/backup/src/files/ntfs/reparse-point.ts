/** What a file with a reparse point is. */
export interface ReparsePoint {
  /** Of a symbolic link or junction. */
  readonly target?: string;
  /** Why its content is not here. */
  readonly unsupported?: string;
}

/** Tags, see [MS-FSCC] 2.1.2.1. */
const SYMBOLIC_LINK = 0xa000000c;
const MOUNT_POINT = 0xa0000003;
const LINUX_LINK = 0xa000001d;
const COMPRESSED_SYSTEM_FILE = 0x80000017;
const DEDUPLICATED = 0x80000013;
/** OneDrive and others: 0x9000?01A. */
const isCloudFile = (tag: number) => (tag & 0xffff0fff) >>> 0 === 0x9000001a;

/** @param value of the attribute */
export function parseReparsePoint(value: Buffer): ReparsePoint {
  const tag = value.readUInt32LE(0);
  if (tag === SYMBOLIC_LINK) return { target: targetOf(value, 20) };
  if (tag === MOUNT_POINT) return { target: targetOf(value, 16) };
  if (tag === LINUX_LINK) return { target: value.toString("utf8", 12) };
  if (tag === COMPRESSED_SYSTEM_FILE)
    return { unsupported: "the file is compressed by Windows (CompactOS)" };
  if (tag === DEDUPLICATED)
    return { unsupported: "the file is deduplicated by Windows" };
  if (isCloudFile(tag))
    return { unsupported: "the content of the file is in a cloud" };
  return {};
}

/** The name for users, or the one for the system. @param paths where the names begin */
function targetOf(value: Buffer, paths: number): string {
  const text = (at: number) => {
    const start = paths + value.readUInt16LE(at);
    return value.toString("utf16le", start, start + value.readUInt16LE(at + 2));
  };
  return text(12) || text(8);
}
