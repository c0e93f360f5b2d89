import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { peek } from "../transfers/peek.js";

export type VmFormat = "xva" | "ova";

/** Bytes of the name of the first file in an archive. */
const NAME = 100;

/**
 * The format of an uploaded VM: the first file of an OVA is its descriptor.
 * @param format the format that the client names
 * @throws XoError INVALID_PARAMETERS: it is another one
 */
export async function formatOf(
  body: Readable,
  format: VmFormat | undefined,
): Promise<VmFormat> {
  const start = await peek(body, NAME);
  const end = start.indexOf(0);
  const name = start.toString("latin1", 0, end < 0 ? undefined : end);
  const isOva = /\.ovf$/.test(name);
  if (format === "ova" && !isOva)
    throw new XoError("INVALID_PARAMETERS", {
      reason:
        "not a valid OVA file: its first file is not the descriptor (.ovf)",
    });
  return isOva && format !== "xva" ? "ova" : "xva";
}
