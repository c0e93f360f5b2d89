import { createHash } from "node:crypto";
import {
  columnsOf,
  hashRef,
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  type RecordBatch,
} from "@xo-server/model";

export interface BatchItem {
  readonly className: string;
  readonly ref: string;
  /** Absent: the object is deleted. */
  readonly record?: object;
  readonly operation?: EventOperation;
  /** JSON text to use instead of the record's, as from a pool that writes bare NaN. */
  readonly lenientText?: string;
}

/** A batch as a parser worker would hand over: references, records and dead bytes around them. */
export function buildBatch(items: readonly BatchItem[]): RecordBatch {
  const pieces: Buffer[] = [];
  let length = 0;
  const add = (text: string) => {
    const bytes = Buffer.from(text);
    pieces.push(bytes);
    const offset = length;
    length += bytes.length;
    return { offset, length: bytes.length, bytes };
  };
  const classes = [...new Set(items.map(({ className }) => className))];
  const table = new Int32Array(items.length * RECORD_STRIDE);
  const columns: number[] = [];
  items.forEach((item, index) => {
    const set = (field: keyof typeof RecordField, value: number) => {
      table[index * RECORD_STRIDE + RecordField[field]] = value;
    };
    add(`"`);
    const ref = add(item.ref);
    add(`":`);
    set("refOffset", ref.offset);
    set("refLength", ref.length);
    set("refHash", hashRef(ref.bytes, 0, ref.length));
    set("classIndex", classes.indexOf(item.className));
    set("operation", operationOf(item));
    set("columns", -1);
    const text = item.lenientText ?? JSON.stringify(item.record);
    if (text === undefined) return;
    const record = add(text);
    const digest = createHash("sha1").update(record.bytes).digest();
    set("offset", record.offset);
    set("length", record.length);
    set("digestHigh", digest.readInt32LE(0));
    set("digestLow", digest.readInt32LE(4));
    set("flags", item.lenientText === undefined ? 0 : RecordFlag.lenient);
    if (item.record === undefined) return;
    set("columns", columns.length);
    const places = placesOf(item.record);
    for (const name of columnsOf(item.className)) {
      const [offset, size] = places.get(name) ?? [0, 0];
      columns.push(size === 0 ? 0 : record.offset + offset, size);
    }
  });
  const buffer = new ArrayBuffer(length);
  Buffer.concat(pieces).copy(Buffer.from(buffer));
  return {
    buffer,
    count: items.length,
    table,
    columns: Int32Array.from(columns),
    classes,
  };
}

function operationOf(item: BatchItem): EventOperation {
  const hasRecord = item.record !== undefined || item.lenientText !== undefined;
  return (
    item.operation ?? (hasRecord ? EventOperation.mod : EventOperation.del)
  );
}

/** Offset and length in bytes of each value in JSON.stringify's text of the record. */
function placesOf(record: object): Map<string, [number, number]> {
  const places = new Map<string, [number, number]>();
  let at = 1;
  for (const [name, value] of Object.entries(record)) {
    at += Buffer.byteLength(`${JSON.stringify(name)}:`);
    const size = Buffer.byteLength(JSON.stringify(value));
    places.set(name, [at, size]);
    at += size + 1;
  }
  return places;
}
