import {
  hashRef,
  EventOperation,
  parseLenient,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  type DecodeRequest,
  type DecodedAnswer,
  type RecordBatch,
} from "@xo-server/model";
import type { ParserPool } from "../../src/index.js";

/** A parsed record of a batch. */
export interface ReadRecord {
  readonly ref: string;
  readonly className: string;
  readonly operation: string;
  readonly lenient: boolean;
  /** Undefined: no record. */
  readonly record: unknown;
  /** JSON text of each column; empty if the record has no such field. */
  readonly columns: readonly string[];
  readonly digest: string;
}

export interface Fed {
  readonly answer: DecodedAnswer;
  readonly records: readonly ReadRecord[];
  readonly batches: readonly RecordBatch[];
}

export interface FeedOptions extends Partial<DecodeRequest> {
  /** Length of the next chunk, at least 1. */
  readonly chunk?: () => number;
}

/** Feeds the bytes of an answer as a socket would, with backpressure. */
export async function feed(
  pool: ParserPool,
  body: Uint8Array,
  { chunk = () => 65536, ...request }: FeedOptions = {},
): Promise<Fed> {
  const batches: RecordBatch[] = [];
  let drained: (() => void) | undefined;
  let failed = false;
  const stream = pool.open(
    {
      encoding: "json-rpc",
      shape: "records",
      className: "VM",
      priority: "bulk",
      lane: "pool",
      ...request,
    },
    {
      onBatch: (batch) => batches.push(batch),
      onDrain: () => drained?.(),
      onError() {
        failed = true;
        drained?.();
      },
    },
  );
  for (let at = 0; at < body.length && !failed;) {
    const space = stream.space();
    const length = Math.min(space.length, chunk(), body.length - at);
    space.set(body.subarray(at, at + length));
    at += length;
    if (!stream.commit(length) && !failed)
      await new Promise<void>((resolve) => (drained = resolve));
  }
  const answer = await stream.end();
  return { answer, batches, records: batches.flatMap(readBatch) };
}

/** All records of a batch; throws if the table contradicts the bytes. */
export function readBatch(batch: RecordBatch): ReadRecord[] {
  const rows = Array.from({ length: batch.count }, (_, i) => i);
  return rows.map((row) => readRow(batch, row * RECORD_STRIDE));
}

function readRow(batch: RecordBatch, row: number): ReadRecord {
  const field = (name: keyof typeof RecordField) =>
    batch.table[row + RecordField[name]]!;
  const text = (offset: number, length: number) =>
    Buffer.from(batch.buffer, offset, length).toString();
  const bytes = new Uint8Array(batch.buffer);
  const hash = hashRef(bytes, field("refOffset"), field("refLength"));
  if (hash !== field("refHash")) throw new Error("refHash is wrong");
  const lenient = (field("flags") & RecordFlag.lenient) !== 0;
  const json = text(field("offset"), field("length"));
  const first = field("columns");
  const next =
    row / RECORD_STRIDE + 1 < batch.count
      ? nextColumns(batch, row)
      : batch.columns.length;
  const columns: string[] = [];
  for (let at = first; first >= 0 && at < next; at += 2)
    columns.push(text(batch.columns[at]!, batch.columns[at + 1]!));
  const operation = Object.entries(EventOperation).find(
    ([, value]) => value === field("operation"),
  );
  return {
    ref: text(field("refOffset"), field("refLength")),
    className: batch.classes[field("classIndex")]!,
    operation: operation![0],
    lenient,
    record:
      json === "" ? undefined : lenient ? parseLenient(json) : JSON.parse(json),
    columns,
    digest: `${field("digestHigh")}:${field("digestLow")}`,
  };
}

/** End of the columns of the row: the start of those of the next row with columns. */
function nextColumns(batch: RecordBatch, row: number): number {
  const { table, count, columns } = batch;
  for (
    let at = row + RECORD_STRIDE;
    at < count * RECORD_STRIDE;
    at += RECORD_STRIDE
  ) {
    const first = table[at + RecordField.columns]!;
    if (first >= 0) return first;
  }
  return columns.length;
}
