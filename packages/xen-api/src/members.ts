import {
  columnsOf,
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  type RecordBatch,
} from "@xo-server/model";
import { siblingAddress, type Address } from "./http/address.js";

const ADDRESS_COLUMN = columnsOf("host").indexOf("address");

/** Addresses of the hosts in a batch of records, with scheme and port of `known`. */
export function memberAddresses(batch: RecordBatch, known: Address): Address[] {
  const members: Address[] = [];
  const host = batch.classes.indexOf("host");
  if (host === -1) return members;
  for (let i = 0; i < batch.count; i++) {
    const row = i * RECORD_STRIDE;
    if (batch.table[row + RecordField.classIndex] !== host) continue;
    const pair = batch.table[row + RecordField.columns]!;
    if (pair < 0) continue;
    const at = pair + 2 * ADDRESS_COLUMN;
    const [offset = 0, length = 0] = batch.columns.subarray(at, at + 2);
    if (length === 0) continue;
    const text = Buffer.from(batch.buffer, offset, length).toString();
    const member = siblingAddress(known, String(JSON.parse(text)));
    if (member !== undefined) members.push(member);
  }
  return members;
}

/** Was a host added or removed? */
export function changesMembership(batch: RecordBatch): boolean {
  const host = batch.classes.indexOf("host");
  if (host === -1) return false;
  for (let i = 0; i < batch.count; i++) {
    const row = i * RECORD_STRIDE;
    if (
      batch.table[row + RecordField.classIndex] === host &&
      batch.table[row + RecordField.operation] !== EventOperation.mod
    )
      return true;
  }
  return false;
}
