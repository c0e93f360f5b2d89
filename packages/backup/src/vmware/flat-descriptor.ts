import { invalid } from "../vmdk/sparse-header.js";

/** A part of a flat disk. */
export interface FlatExtent {
  /** On the disk, bytes. */
  readonly start: number;
  /** Bytes. */
  readonly size: number;
  /** Name in the folder of the descriptor; undefined: zeros. */
  readonly file: string | undefined;
  /** Of the part in the file, bytes. */
  readonly offset: number;
}

const SECTOR = 512;
const NO_PARENT = /^ffffffff$/i;
const KINDS = new Set(["FLAT", "VMFS", "ZERO"]);

/**
 * Reads the descriptor of a flat VMDK: a text.
 * @param size bytes of the disk
 * @throws RepositoryError `source-invalid`: it is another kind of disk, or another size
 */
export function parseFlatDescriptor(text: string, size: number): FlatExtent[] {
  if (!text.startsWith("# Disk DescriptorFile"))
    throw invalid("no descriptor of a disk");
  const [, parent = "ffffffff"] = /^parentCID *= *(\w+)/m.exec(text) ?? [];
  if (!NO_PARENT.test(parent)) throw invalid("the disk has a parent disk");
  const extents: FlatExtent[] = [];
  let start = 0;
  for (const line of text.split(/\r?\n/)) {
    if (!/^(RW|RDONLY|NOACCESS)\s/.test(line)) continue;
    const extent = parseExtent(line, start);
    extents.push(extent);
    start += extent.size;
  }
  if (start !== size)
    throw invalid(`a disk of ${start} bytes, ${size} are expected`);
  return extents;
}

/** Such as `RW 20971520 VMFS "disk-flat.vmdk"`. */
function parseExtent(line: string, start: number): FlatExtent {
  const [, sectors, kind = "", file, at = "0"] =
    /^RW (\d{1,13}) (\w+)(?: "([^"]+)"(?: (\d{1,13}))?)?\s*$/.exec(line) ?? [];
  if (sectors === undefined || !KINDS.has(kind))
    throw invalid(
      `the extent "${line.slice(0, 200)}": only flat disks can be read`,
    );
  const isZero = kind === "ZERO";
  if (!isZero && (file === undefined || /[/\\]/.test(file)))
    throw invalid(`the extent "${line.slice(0, 200)}" names no file beside it`);
  return {
    start,
    size: Number(sectors) * SECTOR,
    file: isZero ? undefined : file,
    offset: Number(at) * SECTOR,
  };
}
