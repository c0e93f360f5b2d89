import { damaged } from "../model/file-system-error.js";
import type { ReadableDisk } from "../model/readable-disk.js";

/** Offsets and sizes in bytes. Source: Microsoft, FAT: General Overview of On-Disk Format, 1.03. */
export interface FatLayout {
  readonly bits: 12 | 16 | 32;
  readonly label: string;
  readonly fatOffset: number;
  readonly clusterSize: number;
  /** Number of clusters; the first one is 2. */
  readonly clusters: number;
  readonly dataOffset: number;
  /** Of FAT12 and FAT16. */
  readonly rootOffset: number;
  readonly rootSize: number;
  /** Of FAT32. */
  readonly rootCluster: number;
}

/** @throws FileSystemError `file-system-damaged` */
export async function readFatLayout(disk: ReadableDisk): Promise<FatLayout> {
  const bytes = await disk.read(0, 512);
  const sector = bytes.readUInt16LE(11);
  const perCluster = bytes[13]!;
  const reserved = bytes.readUInt16LE(14);
  const fats = bytes[16]!;
  const rootEntries = bytes.readUInt16LE(17);
  const sectors = bytes.readUInt16LE(19) || bytes.readUInt32LE(32);
  const fatSize16 = bytes.readUInt16LE(22);
  const fatSectors = fatSize16 || bytes.readUInt32LE(36);
  const isPower = (value: number) => value > 0 && (value & (value - 1)) === 0;
  if (
    !isPower(sector) ||
    sector < 512 ||
    sector > 4096 ||
    !isPower(perCluster) ||
    reserved === 0 ||
    fats === 0 ||
    fats > 4 ||
    fatSectors === 0
  )
    throw damaged("the boot sector of the FAT file system is damaged");
  const rootSectors = Math.ceil((rootEntries * 32) / sector);
  const rootStart = reserved + fats * fatSectors;
  const dataStart = rootStart + rootSectors;
  const clusters = Math.floor((sectors - dataStart) / perCluster);
  if (clusters < 1) throw damaged("the FAT file system has no clusters");
  const bits =
    fatSize16 === 0 && rootEntries === 0
      ? 32
      : clusters < 4085
        ? 12
        : clusters < 65_525
          ? 16
          : 32;
  const label = bytes.toString(
    "latin1",
    bits === 32 ? 71 : 43,
    bits === 32 ? 82 : 54,
  );
  return {
    bits,
    label: label.trim() === "NO NAME" ? "" : label.trim(),
    fatOffset: reserved * sector,
    clusterSize: perCluster * sector,
    clusters: Math.min(clusters, Math.floor((fatSectors * sector * 8) / bits)),
    dataOffset: dataStart * sector,
    rootOffset: rootStart * sector,
    rootSize: rootSectors * sector,
    rootCluster: bits === 32 ? bytes.readUInt32LE(44) : 0,
  };
}
