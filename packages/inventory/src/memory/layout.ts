import { createHash } from "node:crypto";
import { endianness } from "node:os";
import {
  columnsByClass,
  defaultColumns,
  Operation,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
} from "@xo-server/model";

/** To be counted up when frames change in a way that model's tables do not show. */
const FORMAT = 1;

/**
 * 16 bytes that stand for all that a batch's numbers mean. A file with others is
 * of another version of this program: it is dropped, the pool lists anew.
 */
export const layout: Buffer = createHash("sha256")
  .update(
    JSON.stringify([
      FORMAT,
      endianness(),
      RECORD_STRIDE,
      RecordField,
      Operation,
      RecordFlag,
      columnsByClass,
      defaultColumns,
    ]),
  )
  .digest()
  .subarray(0, 16);
