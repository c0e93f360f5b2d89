import { XoError } from "@xo-server/model";
import { checkRaw, isConvertedImage } from "../transfers/image-format.js";
import type { Delivery, TransferTask } from "../transfers/transfer.js";
import type { DiskImages } from "./disk-images.js";

export interface IncomingFormat {
  /** As the client names it. */
  readonly format: "raw" | "vhd" | "qcow2" | "vmdk" | "vhdx";
  /** The bytes become the contents of the disk, whatever they are. */
  readonly isRaw: boolean;
  /** Format of converted images. */
  readonly result: "raw" | "vhd";
}

/** Data in a format that XAPI imports. */
interface KnownDelivery extends Delivery {
  readonly format: "raw" | "vhd";
  /** Of a converted image: resolves when its conversion has ended. */
  readonly finished?: () => Promise<void>;
}

/**
 * Converts an upload that is a qcow2, VMDK or VHDX image.
 * @throws XoError INVALID_PARAMETERS: it is of another format than named; errors of DiskImages
 */
export async function toKnownFormat(
  upload: Delivery,
  { format, isRaw, result }: IncomingFormat,
  {
    images,
    work,
  }: { readonly images: DiskImages; readonly work: TransferTask },
): Promise<KnownDelivery> {
  const isAny = format === "raw" && isRaw;
  if (!isAny && (await isConvertedImage(upload.body))) {
    const content = await images.open(upload.body, result, work);
    return { ...content, format: result };
  }
  if (format !== "raw" && format !== "vhd")
    throw new XoError("INVALID_PARAMETERS", {
      reason: `the data is not a ${format} image`,
    });
  if (format === "raw" && !isAny) await checkRaw(upload.body);
  return { ...upload, format };
}
