import { XoError } from "@xo-server/model";
import { Type } from "typebox";

/** A number of bytes, or a text such as `10 GiB`. */
export const byteSize = Type.Union(
  [Type.Integer({ minimum: 0 }), Type.String({ minLength: 1 })],
  { description: "In bytes, or with a unit: `10 GiB`." },
);

const TEXT = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?\s*$/i;
const POWERS = ["", "k", "m", "g", "t", "p"];

/**
 * `10 GiB` and `10G` (as in Xen Orchestra) use factors of 1024, `10 GB` factors of
 * 1000.
 * @returns bytes
 * @throws XoError INVALID_PARAMETERS
 */
export function toBytes(size: number | string): number {
  const [, count, unit = "", binary = ""] = TEXT.exec(String(size)) ?? [];
  const isDecimal = binary === "" && /[kmgtp]b\s*$/i.test(String(size));
  const power = POWERS.indexOf(unit.toLowerCase());
  const bytes = Math.round(Number(count) * (isDecimal ? 1000 : 1024) ** power);
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `not a valid size: "${size}" (for example 10 GiB)`,
  });
}
