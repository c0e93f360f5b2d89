import { uint64 } from "../model/disk-fields.js";
import { damaged, unsupported } from "../model/file-system-error.js";
import {
  checkRange,
  MAX_READ,
  type ReadableDisk,
} from "../model/readable-disk.js";
import { parseLvmMetadata, type LvmSection } from "./lvm-metadata.js";

const SECTOR = 512;
const LABEL = "LABELONE";
const METADATA_MAGIC = " LVM2 x[5A%r0N*>";
/** Bytes of the text at most. */
const MAX_TEXT = MAX_READ;
const MAX_AREAS = 16;
const MAX_SEGMENTS = 10_000;

/** A logical volume whose data are all on one physical volume. */
interface LogicalVolume {
  readonly group: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** @throws FileSystemError `file-system-unsupported`: it needs other disks, or is of another type */
  open(): ReadableDisk;
}

/** Bytes of a volume that follow each other on the disk. */
interface Piece {
  readonly start: number;
  readonly length: number;
  readonly offset: number;
}

/**
 * The logical volumes of a physical volume of LVM2.
 * Source: lib/format_text of LVM2: label in one of four sectors, header of the physical volume, metadata areas with the text.
 * @throws FileSystemError
 */
export async function readLogicalVolumes(
  disk: ReadableDisk,
): Promise<LogicalVolume[]> {
  const { id, areas } = await readHeader(disk);
  const text = await readText(disk, areas);
  if (text === undefined)
    throw unsupported("LVM: the metadata are on other disks");
  for (const [group, section] of Object.entries(parseLvmMetadata(text)))
    if (isSection(section)) return volumesOf(disk, { id, group, section });
  throw damaged("LVM: the volume group is missing");
}

async function readHeader(disk: ReadableDisk): Promise<{
  readonly id: string;
  readonly areas: readonly { readonly offset: number; readonly size: number }[];
}> {
  const bytes = await disk.read(0, Math.min(disk.size, 4 * SECTOR));
  const label = [0, 1, 2, 3].find(
    (i) => bytes.toString("latin1", i * SECTOR, i * SECTOR + 8) === LABEL,
  );
  if (label === undefined) throw damaged("LVM: the label is missing");
  let at = label * SECTOR + bytes.readUInt32LE(label * SECTOR + 20);
  const id = bytes.toString("latin1", at, at + 32);
  at += 40;
  const lists: { offset: number; size: number }[][] = [[], []];
  for (const list of lists)
    for (; list.length < MAX_AREAS; at += 16) {
      const area = { offset: uint64(bytes, at), size: uint64(bytes, at + 8) };
      if (area.offset === 0) {
        at += 16;
        break;
      }
      list.push(area);
    }
  return { id, areas: lists[1]! };
}

/** The newest text of the first area that has one. */
async function readText(
  disk: ReadableDisk,
  areas: readonly { readonly offset: number; readonly size: number }[],
): Promise<string | undefined> {
  for (const { offset, size } of areas) {
    const header = await disk.read(offset, SECTOR);
    if (header.toString("latin1", 4, 20) !== METADATA_MAGIC) continue;
    const start = uint64(header, 40);
    const length = uint64(header, 48);
    if (start === 0 || length === 0) continue;
    if (length > MAX_TEXT || start + length > size + size)
      throw damaged("LVM: the metadata are too large");
    // The area is a ring behind its header.
    const first = Math.min(length, Math.max(0, size - start));
    const bytes = Buffer.concat([
      await disk.read(offset + start, first),
      await disk.read(offset + SECTOR, length - first),
    ]);
    return bytes.toString("utf8").replace(/\0.*$/s, "");
  }
  return undefined;
}

function volumesOf(
  disk: ReadableDisk,
  {
    id,
    group,
    section,
  }: {
    readonly id: string;
    readonly group: string;
    readonly section: LvmSection;
  },
): LogicalVolume[] {
  const extent = numberOf(section, "extent_size") * SECTOR;
  const starts = new Map<string, number>();
  for (const [name, volume] of sectionsIn(section["physical_volumes"]))
    if (textOf(volume["id"]).replaceAll("-", "") === id)
      starts.set(name, numberOf(volume, "pe_start") * SECTOR);
  return sectionsIn(section["logical_volumes"])
    .filter(
      ([, { status }]) => Array.isArray(status) && status.includes("VISIBLE"),
    )
    .map(([name, volume]) => ({
      group,
      name,
      size: segmentsOf(volume).reduce(
        (sum, segment) => sum + numberOf(segment, "extent_count") * extent,
        0,
      ),
      open: () => openVolume(disk, piecesOf(volume, { extent, starts })),
    }));
}

function segmentsOf(volume: LvmSection): LvmSection[] {
  const segments = sectionsIn(volume)
    .filter(([name]) => name.startsWith("segment"))
    .map(([, segment]) => segment);
  if (segments.length > MAX_SEGMENTS) throw damaged("LVM: too many segments");
  return segments.toSorted(
    (a, b) => numberOf(a, "start_extent") - numberOf(b, "start_extent"),
  );
}

interface Layout {
  /** Bytes of an extent. */
  readonly extent: number;
  /** Offsets of the first extent, by the names of the physical volumes on this disk. */
  readonly starts: ReadonlyMap<string, number>;
}

/** The stripes of a volume in order. */
function piecesOf(volume: LvmSection, layout: Layout): Stripe[] {
  let next = 0;
  return segmentsOf(volume).map((segment) => {
    const length = numberOf(segment, "extent_count") * layout.extent;
    const start = numberOf(segment, "start_extent") * layout.extent;
    if (start !== next) throw damaged("LVM: a segment is missing");
    next += length;
    return stripeOf(segment, { start, length, ...layout });
  });
}

interface Stripe extends Omit<Piece, "offset"> {
  /** Bytes that are on one stripe before the next one follows. */
  readonly width: number;
  /** Offsets of the stripes on the disk. */
  readonly offsets: readonly number[];
}

function stripeOf(
  segment: LvmSection,
  { start, length, extent, starts }: Layout & Omit<Piece, "offset">,
): Stripe {
  const { type, stripes } = segment;
  if (type !== "striped")
    throw unsupported(
      `LVM: volumes of the type ${textOf(type)} are not supported`,
    );
  if (!Array.isArray(stripes) || stripes.length === 0)
    throw damaged("LVM: a segment has no stripes");
  const list = stripes as readonly (string | number)[];
  const offsets: number[] = [];
  for (let i = 0; i + 1 < list.length; i += 2) {
    const base = starts.get(String(list[i]));
    if (base === undefined)
      throw unsupported("LVM: the volume needs other disks too");
    offsets.push(base + Number(list[i + 1]) * extent);
  }
  const width =
    offsets.length === 1 ? length : numberOf(segment, "stripe_size") * SECTOR;
  if (!(width > 0)) throw damaged("LVM: a stripe has no size");
  return { start, length, width, offsets };
}

function openVolume(
  disk: ReadableDisk,
  stripes: readonly Stripe[],
): ReadableDisk {
  const last = stripes.at(-1);
  const size = last === undefined ? 0 : last.start + last.length;
  return {
    size,
    async read(offset, length) {
      checkRange({ size }, offset, length);
      const parts: Buffer[] = [];
      for (let done = 0; done < length;) {
        const piece = pieceAt(stripes, offset + done);
        const bytes = Math.min(piece.length, length - done);
        parts.push(await disk.read(piece.offset, bytes));
        done += bytes;
      }
      return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    },
  };
}

/** What follows an offset of the volume in one piece. */
function pieceAt(
  stripes: readonly Stripe[],
  at: number,
): Pick<Piece, "offset" | "length"> {
  const stripe = stripes.find(
    ({ start, length }) => at >= start && at < start + length,
  )!;
  const { start, width, offsets, length } = stripe;
  const within = at - start;
  const row = Math.floor(within / width);
  const used = within % width;
  const base = offsets[row % offsets.length]!;
  return {
    offset: base + Math.floor(row / offsets.length) * width + used,
    length: Math.min(width - used, length - within),
  };
}

function sectionsIn(value: unknown): [string, LvmSection][] {
  if (!isSection(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, LvmSection] =>
    isSection(entry[1]),
  );
}

function isSection(value: unknown): value is LvmSection {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** @throws FileSystemError `file-system-damaged` */
function numberOf(section: LvmSection, name: string): number {
  const value = section[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw damaged(`LVM: ${name} is missing`);
  return value;
}
