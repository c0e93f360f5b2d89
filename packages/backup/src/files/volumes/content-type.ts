import type { ReadableDisk } from "../model/readable-disk.js";

interface Signature {
  /** Bytes from the beginning. */
  readonly at: number;
  /** Latin-1. */
  readonly text: string;
  readonly type: string;
}

/** What begins a disk or partition, by its signature; those of boot sectors are first. */
const SIGNATURES: readonly Signature[] = [
  { at: 3, text: "NTFS    ", type: "ntfs" },
  { at: 3, text: "-FVE-FS-", type: "BitLocker" },
  { at: 3, text: "EXFAT   ", type: "exFAT" },
  { at: 3, text: "ReFS", type: "ReFS" },
  { at: 54, text: "FAT1", type: "vfat" },
  { at: 82, text: "FAT32", type: "vfat" },
  { at: 0, text: "XFSB", type: "xfs" },
  { at: 1080, text: "\x53\xef", type: "ext" },
  { at: 0, text: "LUKS\xba\xbe", type: "LUKS" },
  { at: 512, text: "LABELONE", type: "lvm2" },
  { at: 0, text: "LABELONE", type: "lvm2" },
  { at: 1024, text: "LABELONE", type: "lvm2" },
  { at: 1536, text: "LABELONE", type: "lvm2" },
  { at: 65_600, text: "_BHRfS_M", type: "btrfs" },
  { at: 4086, text: "SWAPSPACE2", type: "swap" },
  { at: 4086, text: "SWAP-SPACE", type: "swap" },
  { at: 0, text: "\xfc\x4e\x2b\xa9", type: "Linux RAID" },
  { at: 4096, text: "\xfc\x4e\x2b\xa9", type: "Linux RAID" },
  { at: 1024, text: "\x10\x20\xf5\xf2", type: "F2FS" },
  { at: 1024, text: "H+", type: "HFS+" },
  { at: 1024, text: "HX", type: "HFS+" },
  { at: 32, text: "NXSB", type: "APFS" },
  { at: 0, text: "hsqs", type: "squashfs" },
  { at: 32_769, text: "CD001", type: "iso9660" },
  { at: 65_588, text: "ReIsEr", type: "ReiserFS" },
  { at: 32_768, text: "JFS1", type: "JFS" },
  { at: 4120, text: "\xc6\x85\x73\xf6\x4e\x1a\x45\xca", type: "bcachefs" },
  { at: 131_072, text: "\x0c\xb1\xba\x00\x00\x00\x00\x00", type: "ZFS" },
];
/** Boot sectors, which may look like a partition table. */
const BOOT_SECTORS: ReadonlySet<string> = new Set([
  "ntfs",
  "BitLocker",
  "exFAT",
  "ReFS",
  "vfat",
]);

/** @returns what begins here; undefined if it is not known */
export async function contentTypeOf(
  disk: ReadableDisk,
): Promise<string | undefined> {
  const head = await disk.read(0, Math.min(disk.size, 66 * 1024));
  for (const { at, text, type } of SIGNATURES) {
    const end = at + text.length;
    const bytes =
      end <= head.length
        ? head.subarray(at, end)
        : end <= disk.size
          ? await disk.read(at, text.length)
          : undefined;
    if (bytes?.toString("latin1") === text) return type;
  }
  return undefined;
}

export function isBootSector(type: string | undefined): boolean {
  return type !== undefined && BOOT_SECTORS.has(type);
}

/** Partitions whose content is spread over a disk by Windows, by their type. */
const WINDOWS_TYPES: Readonly<Record<string, string>> = {
  "0x42": "Windows dynamic disk",
  "af9b60a0-1431-4f62-bc68-3311714a69ad": "Windows dynamic disk",
  "5808c8aa-7e8f-42e0-85d2-e1e90434cfb3": "Windows dynamic disk",
  "e75caf8f-f680-4cee-afa3-b001e56efc2d": "Windows Storage Spaces",
};

/** @param type of a partition @returns what only Windows can read in it */
export function windowsTypeOf(type: string): string | undefined {
  return WINDOWS_TYPES[type];
}
