import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { peek } from "./peek.js";

/** Bytes that determine the format. */
const HEAD_BYTES = 512;

/** Formats of disk images, by the text that they begin with. */
const FORMATS: readonly (readonly [text: string, format: string])[] = [
  ["QFI\u00fb", "qcow2"],
  ["KDMV", "VMDK"],
  ["# Disk DescriptorFile", "VMDK"],
  ["conectix", "VHD"],
  ["vhdxfile", "VHDX"],
  ["<<< Oracle VM VirtualBox", "VDI (VirtualBox)"],
];

/** Formats that the server converts. */
const CONVERTED: ReadonlySet<string> = new Set(["qcow2", "VMDK", "VHDX"]);

/** Whether an upload is an image that is converted, whatever format its client names. Reads its first bytes. */
export async function isConvertedImage(body: Readable): Promise<boolean> {
  const format = await formatOf(body);
  return format !== undefined && CONVERTED.has(format);
}

async function formatOf(body: Readable): Promise<string | undefined> {
  const head = (await peek(body, HEAD_BYTES)).toString("latin1");
  return FORMATS.find(([text]) => head.startsWith(text))?.[1];
}

/**
 * Checks that an upload of raw data is not a disk image of another format: no guest can read
 * a disk with the bytes of such a file.
 * @throws XoError INVALID_PARAMETERS
 */
export async function checkRaw(body: Readable): Promise<void> {
  const format = await formatOf(body);
  if (format === undefined) return;
  const remedy =
    format === "VHD"
      ? "import it as VHD"
      : "convert it first (qemu-img convert -O raw)";
  throw new XoError("INVALID_PARAMETERS", {
    reason: `the data is a ${format} image, not raw: ${remedy}; anyContent: true imports its bytes unchanged`,
  });
}
