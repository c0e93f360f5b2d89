import { inflateSync } from "node:zlib";
import type { DiskPart } from "../foreign/foreign-vm.js";
import { SECTOR, invalid, type SparseHeader } from "./sparse-header.js";

/** Bytes that a compressed grain may have: data that cannot be compressed grows a little. */
export function maxCompressed({ grain }: SparseHeader): number {
  return grain * SECTOR * 2 + SECTOR;
}

/**
 * A grain as a part of the disk, without what is behind its end.
 * @param sector where it begins on the disk
 * @throws RepositoryError `source-invalid`
 */
export function toPart(
  bytes: Buffer,
  sector: number,
  { capacity }: SparseHeader,
): DiskPart {
  const rest = (capacity - sector) * SECTOR;
  return { offset: sector * SECTOR, bytes: bytes.subarray(0, rest) };
}

/** @throws RepositoryError `source-invalid` */
export function inflateGrain(
  data: Buffer,
  sector: number,
  header: SparseHeader,
): Buffer {
  const size = header.grain * SECTOR;
  const least = Math.min(size, (header.capacity - sector) * SECTOR);
  const bytes = inflate(data, size, sector);
  if (bytes.length < least)
    throw invalid(`the grain of sector ${sector} has ${bytes.length} bytes`);
  return bytes;
}

function inflate(data: Buffer, size: number, sector: number): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: size });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(`the grain of sector ${sector}: ${reason}`);
  }
}
