export { NULL_REF, isRef, type Ref } from "./refs.js";
export {
  datamodel,
  type ClassModel,
  type Datamodel,
  type FieldModel,
  type MessageModel,
} from "./datamodel.js";
export {
  classNameOf,
  integerFields,
  mirroredClasses,
  type IntegerPosition,
} from "./classes.js";
export { columnsByClass, columnsOf, defaultColumns } from "./columns.js";
export {
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  hashRef,
  allocateShared,
  toSharedBuffer,
  transferable,
  type RecordBatch,
  type RecordBuffer,
} from "./record-batch.js";
export type {
  AnswerShape,
  DecodePriority,
  DecodeRequest,
  DecodedAnswer,
  WireEncoding,
} from "./decoding.js";
export {
  XapiError,
  XoError,
  errorTable,
  type ErrorCode,
  type ErrorData,
} from "./errors.js";
export { parseLenient } from "./lenient-json.js";
