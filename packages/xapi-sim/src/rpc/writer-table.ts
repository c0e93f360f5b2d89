import { datamodel } from "@xo-server/model";
import { fieldType, type FieldType } from "../field-type.js";
import type { XapiRecord, XapiValue } from "../xapi-value.js";

export type Writer = (value: XapiValue) => string;
type RecordWriter = (record: XapiRecord) => string;

/** A field of a record, and how its value is written. */
export interface FieldWriter {
  readonly name: string;
  readonly write: Writer;
}

interface RpcEncoding {
  writer(type: FieldType, writerOf: (type: FieldType) => Writer): Writer;
  /** @param fields in the datamodel's order */
  recordWriter(fields: readonly FieldWriter[]): RecordWriter;
}

/** How values of every type of the datamodel are written in one encoding: each writer is made once. */
export class WriterTable {
  readonly #encoding: RpcEncoding;
  readonly #writers = new Map<FieldType, Writer>();
  readonly #records = new Map<string, RecordWriter>();

  constructor(encoding: RpcEncoding) {
    this.#encoding = encoding;
  }

  write(type: FieldType, value: XapiValue): string {
    return this.#writerOf(type)(value);
  }

  /** A whole record: members in the datamodel's order, nothing the datamodel does not know. */
  writeRecord(className: string, record: XapiRecord): string {
    let write = this.#records.get(className);
    if (write === undefined) {
      write = this.#encoding.recordWriter(this.#fieldsOf(className));
      this.#records.set(className, write);
    }
    return write(record);
  }

  #fieldsOf(className: string): FieldWriter[] {
    const fields = Object.entries(datamodel.classes[className]?.fields ?? {});
    return fields.map(([name, { type }]) => ({
      name,
      write: this.#writerOf(fieldType(type)),
    }));
  }

  #writerOf(type: FieldType): Writer {
    let write = this.#writers.get(type);
    if (write === undefined) {
      write = this.#encoding.writer(type, (one) => this.#writerOf(one));
      this.#writers.set(type, write);
    }
    return write;
  }
}
