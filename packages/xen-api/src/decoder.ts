import type {
  DecodeRequest,
  DecodedAnswer,
  RecordBatch,
} from "@xo-server/model";

/** Receives the parts of an answer while it arrives. All handlers are called on the main thread, in order. */
export interface DecodeHandlers {
  /** Records of one decoded segment. The batch belongs to the receiver. */
  onBatch?(batch: RecordBatch): void;
  /** The stream accepts bytes again after `commit` returned false. */
  onDrain?(): void;
  /** The answer is invalid: the rest need not be read. `end` rejects with the same error. */
  onError?(error: Error): void;
}

/**
 * The body of one answer while it arrives. The reader gets free space, lets the
 * socket write into it and commits the written bytes, so that no byte is copied.
 */
export interface DecodeStream {
  /** Free space for the next bytes of the body, never empty; valid until the next call. */
  space(): Uint8Array;
  /** `length` bytes were written to `space()`. @returns false: stop reading until onDrain */
  commit(length: number): boolean;
  /**
   * Call when the body is complete. Resolves after the last onBatch.
   * @throws XoError BAD_ANSWER, ANSWER_TOO_LARGE, ANSWER_TOO_DEEP, PARSER_FAILED, ABORTED
   */
  end(): Promise<DecodedAnswer>;
  /** Discards the answer and frees its memory; `end` rejects with `reason`. */
  abort(reason: Error): void;
}

/** Decodes the bytes of XAPI's answers into values and record batches. */
export interface Decoder {
  open(request: DecodeRequest, handlers: DecodeHandlers): DecodeStream;
  close(): Promise<void>;
}
