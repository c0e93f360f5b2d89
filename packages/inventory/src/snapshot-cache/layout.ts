import { createHash } from "node:crypto";
import { endianness } from "node:os";
import {
  columnsByClass,
  defaultColumns,
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
} from "@xo-server/model";

/**
 * Increment it when the format of frames changes in a way that the tables of
 * packages/model do not show.
 */
const FORMAT = 2;

/**
 * Fingerprint of everything that the numbers of a batch depend on: 16 bytes of
 * a SHA-256. A file with another layout was written by another version of
 * xo-server; it is dropped and the pool is listed from scratch.
 */
export const layout: Buffer = createHash("sha256")
  .update(
    JSON.stringify([
      FORMAT,
      endianness(),
      RECORD_STRIDE,
      RecordField,
      EventOperation,
      RecordFlag,
      columnsByClass,
      defaultColumns,
    ]),
  )
  .digest()
  .subarray(0, 16);

/** The same as text: servers with another one cannot read each other's files. */
export const snapshotLayout: string = layout.toString("hex");
