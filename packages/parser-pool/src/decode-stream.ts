import {
  XoError,
  type DecodeRequest,
  type DecodedAnswer,
  type RecordBatch,
} from "@xo-server/model";
import type { DecodeFailure, DecodeResult, DecodeTask } from "./decode-task.js";
import { answerOf } from "./answer.js";
import { firstBytes } from "./first-bytes.js";
import type { FormatName } from "./formats/formats.js";
import { Segment } from "./segment.js";
import { HEADROOM, type SegmentPool } from "./segment-pool.js";

/** Receives the parts of an answer. All handlers are called on the main thread, in order. */
export interface StreamHandlers {
  onBatch?(batch: RecordBatch): void;
  /** The stream accepts bytes again after `commit` returned false. */
  onDrain?(): void;
  /** The answer is invalid; `end` rejects with the same error. */
  onError?(error: Error): void;
}

/** A task that runs in place or in a worker. */
export interface TaskRun {
  /** A promise if a worker runs the task; the result itself if the task ran in place. */
  readonly result:
    | DecodeResult
    | DecodeFailure
    | Promise<DecodeResult | DecodeFailure>;
  cancel?(): void;
}

interface StreamSettings {
  readonly format: FormatName;
  /** The format cannot decode single segments. */
  readonly needsWholeAnswer: boolean;
  readonly segmentBytes: number;
  readonly maxBodyBytes: number;
  readonly segments: SegmentPool;
  /** @param bytes size of the whole answer; Infinity if unknown */
  run(task: DecodeTask, bytes: number): TaskRun;
  readonly classNameOf: (name: string) => string;
  onClose(): void;
}

/** Full segments that may wait behind the one being decoded before `commit` returns false. */
const MAX_WAITING_SEGMENTS = 1;

/** Size of a segment for an answer longer than its Content-Length, in bytes. */
const MIN_SEGMENT_BYTES = 4 * 1024;

/** Maximum size allocated ahead for an answer of unknown length, in bytes. */
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;

const EMPTY = new Uint8Array(0);

/** The rest of an invalid answer is written here and ignored. */
const SCRATCH = new Uint8Array(64 * 1024);

/**
 * The body of one answer while it arrives. While a worker decodes one segment
 * the socket fills the next; the bytes that the worker did not consume (the tail)
 * return and are put in front of the next segment.
 *
 *   socket -> #filling -> #waiting -> task -> batches -> handlers
 *                 ^                     |
 *                 +------- tail --------+
 */
export class DecodeStream {
  readonly #request: DecodeRequest;
  readonly #handlers: StreamHandlers;
  readonly #settings: StreamSettings;
  #filling: Segment | undefined;
  #waiting: Segment[] = [];
  /** Bytes that the last task did not consume: put in front of the next segment. */
  #tail: Uint8Array = EMPTY;
  #state: unknown;
  /** The view that `space` returned last: the socket may be writing to it. */
  #space: Uint8Array = EMPTY;
  #received = 0;
  #start: string | undefined;
  #running: TaskRun | undefined;
  #tasks = 0;
  #ended = false;
  #isFull = false;
  #outcome: { answer: DecodedAnswer } | { error: Error } | undefined;
  #settle: (() => void) | undefined;

  constructor(
    request: DecodeRequest,
    handlers: StreamHandlers,
    settings: StreamSettings,
  ) {
    this.#request = request;
    this.#handlers = handlers;
    this.#settings = settings;
    const { contentLength = 0 } = request;
    if (contentLength > settings.maxBodyBytes)
      // Deferred until the caller has the stream.
      queueMicrotask(() => this.fail(this.#tooLarge(contentLength)));
  }

  /** Free space for the next bytes of the body, never empty; valid until the next call. */
  space(): Uint8Array {
    if (this.#outcome !== undefined) return (this.#space = SCRATCH);
    this.#filling ??= this.#newSegment();
    return (this.#space = this.#filling.free());
  }

  /** `length` bytes were written to `space()`. @returns false: stop reading until onDrain */
  commit(length: number): boolean {
    if (this.#outcome !== undefined) return true;
    this.#received += length;
    if (this.#received > this.#settings.maxBodyBytes) {
      this.fail(this.#tooLarge(this.#received));
      return true;
    }
    const segment = (this.#filling ??= this.#newSegment());
    const written = this.#space.subarray(0, length);
    const inPlace =
      written.buffer === segment.bytes.buffer &&
      written.byteOffset === segment.end;
    // The segment was merged into a larger one while the socket was writing.
    if (inPlace) segment.end += length;
    else segment.append(written);
    if (segment.isFull) {
      this.#filling = undefined;
      this.#waiting.push(segment);
      this.#pump();
    }
    this.#isFull =
      !this.#settings.needsWholeAnswer &&
      !this.#isComplete() &&
      this.#running !== undefined &&
      this.#waiting.length >= MAX_WAITING_SEGMENTS;
    return !this.#isFull;
  }

  /** Call when the body is complete. Resolves after the last onBatch. */
  async end(): Promise<DecodedAnswer> {
    if (!this.#ended && this.#outcome === undefined) {
      this.#ended = true;
      if (this.#filling !== undefined) this.#waiting.push(this.#filling);
      this.#filling = undefined;
      this.#pump();
    }
    if (this.#outcome === undefined)
      await new Promise<void>((resolve) => (this.#settle = resolve));
    const outcome = this.#outcome!;
    if ("error" in outcome) throw outcome.error;
    return outcome.answer;
  }

  /** Discards the answer and frees its memory; `end` rejects with `reason`. */
  abort(reason: Error): void {
    if (this.#outcome === undefined) this.#finish({ error: reason });
  }

  /** Fails the stream and calls onError. */
  fail(error: Error): void {
    if (this.#outcome !== undefined) return;
    this.#finish({ error });
    this.#handlers.onError?.(error);
  }

  /** Starts the next task unless one runs or there is nothing to decode. */
  #pump(): void {
    if (this.#running !== undefined || this.#outcome !== undefined) return;
    const pieces = this.#nextPieces();
    if (pieces === undefined) return;
    this.#start ??= firstBytes(
      pieces[0]!.bytes.subarray(pieces[0]!.start, pieces[0]!.end),
    );
    const { shape, className = "", isKept } = this.#request;
    const { format } = this.#settings;
    const final = this.#ended && this.#waiting.length === 0;
    const state = this.#state;
    const task = { format, shape, className, pieces, final, state, isKept };
    this.#state = undefined;
    try {
      this.#run(task);
    } catch (error) {
      this.fail(toError(error));
    }
  }

  #run(task: DecodeTask): void {
    const isWhole = task.final && this.#tasks === 0;
    this.#tasks++;
    const { contentLength = isWhole ? this.#received : Infinity } =
      this.#request;
    const running = this.#settings.run(task, contentLength);
    if (!(running.result instanceof Promise)) {
      this.#onResult(running.result, task.final);
      return;
    }
    this.#running = running;
    running.result.then(
      (result) => {
        this.#running = undefined;
        this.#onResult(result, task.final);
      },
      (error: unknown) => {
        this.#running = undefined;
        this.fail(toError(error));
      },
    );
  }

  /** The input of the next task; undefined: more bytes are needed first. */
  #nextPieces(): Segment[] | undefined {
    // All bytes have arrived: wait for `end`, so that the last task is marked as final.
    if (!this.#ended && (this.#settings.needsWholeAnswer || this.#isComplete()))
      return undefined;
    if (this.#ended && this.#waiting.length === 0)
      this.#waiting.push(new Segment(0, this.#tail.length));
    if (this.#settings.needsWholeAnswer) return this.#waiting.splice(0);
    const [segment] = this.#waiting;
    if (segment === undefined) return undefined;
    if (!segment.prepend(this.#tail)) return this.#mergeLongTail();
    this.#tail = EMPTY;
    return [this.#waiting.shift()!];
  }

  /**
   * A record is longer than a segment. Each attempt decodes it from its start,
   * so each attempt waits until the amount of bytes has doubled: the total cost
   * stays proportional to the length of the record.
   */
  #mergeLongTail(): Segment[] | undefined {
    const tail = this.#tail;
    let fresh = 0;
    for (const { length } of this.#waiting) fresh += length;
    const enough = this.#ended || fresh >= tail.length;
    const filling = enough ? undefined : this.#filling;
    const room = enough
      ? 0
      : Math.max(tail.length, this.#settings.segmentBytes);
    const merged = new Segment(
      tail.length + fresh + (filling?.length ?? 0) + room,
      0,
    );
    for (const bytes of [tail, ...this.#waiting.map(payload)])
      merged.append(bytes);
    if (filling !== undefined) merged.append(payload(filling));
    this.#waiting = [];
    this.#tail = EMPTY;
    if (enough) return [merged];
    this.#filling = merged;
    return undefined;
  }

  /** Whether as many bytes as Content-Length have arrived. */
  #isComplete(): boolean {
    return this.#received === this.#request.contentLength;
  }

  #onResult(result: DecodeResult | DecodeFailure, final: boolean): void {
    if (this.#outcome !== undefined) return;
    try {
      if ("failed" in result) throw this.#errorOf(result);
      for (const batch of result.batches) this.#handlers.onBatch?.(batch);
      if (this.#hasOutcome()) return;
      this.#tail = result.tail;
      this.#state = result.state;
      if (final) {
        const answer = answerOf(result.answer!, this.#settings.classNameOf);
        this.#finish({ answer });
        return;
      }
    } catch (error) {
      this.fail(toError(error));
      return;
    }
    this.#pump();
    this.#drain();
  }

  /** A handler may have aborted the stream. */
  #hasOutcome(): boolean {
    return this.#outcome !== undefined;
  }

  #drain(): void {
    if (!this.#isFull || this.#waiting.length >= MAX_WAITING_SEGMENTS) return;
    this.#isFull = false;
    this.#handlers.onDrain?.();
  }

  #errorOf({ failed }: DecodeFailure): XoError {
    const { code, data } = failed;
    return new XoError(
      code,
      code === "BAD_ANSWER" ? { ...data, start: this.#start ?? "" } : data,
    );
  }

  #finish(outcome: { answer: DecodedAnswer } | { error: Error }): void {
    this.#outcome = outcome;
    this.#running?.cancel?.();
    this.#filling = undefined;
    this.#waiting = [];
    this.#tail = EMPTY;
    this.#settings.onClose();
    this.#settle?.();
  }

  #newSegment(): Segment {
    const { needsWholeAnswer: whole, segmentBytes } = this.#settings;
    const { contentLength } = this.#request;
    const remaining = (contentLength ?? Infinity) - this.#received;
    // More bytes than Content-Length still need space.
    const needed = remaining > 0 ? remaining : MIN_SEGMENT_BYTES;
    const most = whole
      ? Math.max(segmentBytes, Math.min(this.#received, MAX_SEGMENT_BYTES))
      : segmentBytes;
    if (!whole && needed >= segmentBytes)
      return this.#settings.segments.acquire();
    const known = contentLength !== undefined && whole;
    return new Segment(
      known ? needed : Math.min(needed, most),
      whole || this.#received === 0 ? 0 : HEADROOM,
    );
  }

  #tooLarge(bytes: number): XoError {
    return new XoError("ANSWER_TOO_LARGE", {
      bytes,
      limit: this.#settings.maxBodyBytes,
    });
  }
}

function payload({ bytes, start, end }: Segment): Uint8Array {
  return bytes.subarray(start, end);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
