import {
  classNameOf,
  columnsOf,
  hashRef,
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  type RecordBatch,
} from "@xo-server/model";

/** A parsed record to be encoded. */
export interface ParsedRecord {
  readonly className: string;
  readonly ref: string;
  readonly operation: EventOperation;
  /** Undefined for `del`. */
  readonly record: Readonly<Record<string, unknown>> | undefined;
}

/** Encodes parsed records as a batch, by the simplest code. */
export function encodeBatch(records: readonly ParsedRecord[]): RecordBatch {
  const text = new BatchText();
  const classes: string[] = [];
  const table = new Int32Array(records.length * RECORD_STRIDE);
  const columns: number[] = [];
  records.forEach((item, index) => {
    const className = classNameOf(item.className);
    if (!classes.includes(className)) classes.push(className);
    const row = table.subarray(
      index * RECORD_STRIDE,
      (index + 1) * RECORD_STRIDE,
    );
    row[RecordField.classIndex] = classes.indexOf(className);
    row[RecordField.operation] = item.operation;
    row[RecordField.columns] = -1;
    row[RecordField.refOffset] = text.length;
    row[RecordField.refLength] = text.add(item.ref);
    row[RecordField.offset] = text.length;
    if (item.record === undefined) return;
    row[RecordField.columns] = columns.length;
    const members = addRecord(text, item.record);
    row[RecordField.length] = text.length - row[RecordField.offset]!;
    row[RecordField.flags] = members.isOdd ? RecordFlag.lenient : 0;
    for (const name of columnsOf(className))
      columns.push(...(members.places.get(name) ?? [0, 0]));
  });
  const bytes = text.bytes();
  addDigests(bytes, table);
  return {
    buffer: bytes.buffer,
    count: records.length,
    table,
    columns: Int32Array.from(columns),
    classes,
  };
}

/** Collects text and counts its UTF-8 bytes. */
class BatchText {
  readonly #pieces: string[] = [];
  length = 0;

  /** @returns bytes added */
  add(piece: string): number {
    const bytes = Buffer.byteLength(piece);
    this.#pieces.push(piece);
    this.length += bytes;
    return bytes;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(this.#pieces.join(""));
  }
}

function addRecord(text: BatchText, record: Readonly<Record<string, unknown>>) {
  const places = new Map<string, [number, number]>();
  const lenient = { found: false };
  let separator = "{";
  for (const [name, value] of Object.entries(record)) {
    text.add(`${separator}${JSON.stringify(name)}:`);
    const offset = text.length;
    places.set(name, [offset, text.add(toJson(value, lenient))]);
    separator = ",";
  }
  text.add(separator === "{" ? "{}" : "}");
  return { places, isOdd: lenient.found };
}

/** JSON for parseLenient. */
function toJson(value: unknown, odd: { found: boolean }): string {
  if (
    typeof value === "bigint" ||
    (typeof value === "number" && !Number.isFinite(value))
  ) {
    odd.found = true;
    return String(value);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item: unknown) => toJson(item, odd)).join(",")}]`;
  const members = Object.entries(value).map(
    ([name, member]: [string, unknown]) =>
      `${JSON.stringify(name)}:${toJson(member, odd)}`,
  );
  return `{${members.join(",")}}`;
}

function addDigests(bytes: Uint8Array, table: Int32Array): void {
  for (let at = 0; at < table.length; at += RECORD_STRIDE) {
    const row = table.subarray(at, at + RECORD_STRIDE);
    row[RecordField.refHash] = hashRef(
      bytes,
      row[RecordField.refOffset]!,
      row[RecordField.refLength]!,
    );
    const offset = row[RecordField.offset]!;
    const length = row[RecordField.length]!;
    row[RecordField.digestHigh] = hashRef(bytes, offset, length);
    row[RecordField.digestLow] = mix(bytes, offset, length);
  }
}

/** A second hash, independent of FNV-1a. */
function mix(bytes: Uint8Array, offset: number, length: number): number {
  let hash = length | 0;
  for (let i = offset, end = offset + length; i < end; i++)
    hash = (Math.imul(hash, 0x5bd1e995) + bytes[i]!) ^ (hash >>> 15);
  return hash | 0;
}
