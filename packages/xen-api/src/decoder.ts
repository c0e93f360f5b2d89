import type {
  DecodeRequest,
  DecodedAnswer,
  RecordBatch,
} from "@xo-server/model";

/** Where the parts of an answer go while it is still arriving. All are called on the main thread, in order. */
export interface DecodeHandlers {
  /** Records, as soon as a piece of the answer has been split. The batch is the receiver's to keep. */
  onBatch?(batch: RecordBatch): void;
  /** The stream takes bytes again after `commit` said false. */
  onDrain?(): void;
  /** The answer is bad: the connection need not read on. `end` rejects with the same error. */
  onError?(error: Error): void;
}

/**
 * One answer on its way in. The reader asks for space, lets the socket write
 * into it, and commits what came: no chunk is copied twice.
 */
export interface DecodeStream {
  /** Room for the next bytes of the body, never empty; valid until the next call. */
  space(): Uint8Array;
  /** `length` bytes stand in `space()`. False: stop reading until onDrain. */
  commit(length: number): boolean;
  /**
   * The body is complete. Resolves when every batch has been handed over.
   * @throws XoError BAD_ANSWER, ANSWER_TOO_LARGE, ANSWER_TOO_DEEP, PARSER_FAILED, ABORTED
   */
  end(): Promise<DecodedAnswer>;
  /** Nobody wants it any more: memory is let go, `end` rejects with `reason`. */
  abort(reason: Error): void;
}

/** Turns the bytes of XAPI's answers into values and record batches. */
export interface Decoder {
  open(request: DecodeRequest, handlers: DecodeHandlers): DecodeStream;
  close(): Promise<void>;
}
