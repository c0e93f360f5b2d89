import {
  parseLenient,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  type RecordBatch,
} from "@xo-server/model";

/** The records of a batch as objects. */
export function readBatch(batch: RecordBatch) {
  const text = (offset: number, length: number) =>
    Buffer.from(batch.buffer, offset, length).toString();
  return Array.from({ length: batch.count }, (_, index) => {
    const row = batch.table.subarray(
      index * RECORD_STRIDE,
      (index + 1) * RECORD_STRIDE,
    );
    const json = text(row[RecordField.offset]!, row[RecordField.length]!);
    const isLenient = (row[RecordField.flags]! & RecordFlag.lenient) !== 0;
    return {
      className: batch.classes[row[RecordField.classIndex]!],
      ref: text(row[RecordField.refOffset]!, row[RecordField.refLength]!),
      operation: row[RecordField.operation],
      record:
        json === ""
          ? undefined
          : isLenient
            ? parseLenient(json)
            : (JSON.parse(json) as unknown),
    };
  });
}
