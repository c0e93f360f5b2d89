import { invalidSource } from "../foreign/foreign-error.js";
import { ImageDisk } from "./image-disk.js";
import type { ImageFile } from "./image-file.js";
import { openQcow2File } from "./qcow2-file.js";
import type { SparseImage } from "./sparse-image.js";
import { openVhdxFile } from "./vhdx-file.js";
import { openVmdkFile } from "./vmdk-file.js";

/** By the bytes that an image begins with. */
const FORMATS: readonly (readonly [
  start: string,
  open: (file: ImageFile) => Promise<SparseImage>,
])[] = [
  ["QFI\u00fb", openQcow2File],
  ["KDMV", openVmdkFile],
  ["# Disk DescriptorFile", openVmdkFile],
  ["vhdxfile", openVhdxFile],
];

/** The disk of a qcow2, VMDK or VHDX image. @throws RepositoryError `source-invalid` */
export async function openImage(file: ImageFile): Promise<ImageDisk> {
  const start = (await file.readUpTo(0, 32)).toString("latin1");
  for (const [text, open] of FORMATS)
    if (start.startsWith(text)) return new ImageDisk(file, await open(file));
  throw invalidSource("it is not a qcow2, VMDK or VHDX image");
}
