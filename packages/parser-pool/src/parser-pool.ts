import {
  XoError,
  type DecodePriority,
  type DecodeRequest,
  type DecodedAnswer,
  type WireEncoding,
} from "@xo-server/model";
import {
  DecodeStream,
  type Runner,
  type StreamHandlers,
} from "./decode-stream.js";
import {
  runTask,
  type DecodeFailure,
  type DecodeResult,
  type DecodeTask,
} from "./decode-task.js";
import { PRIORITIES } from "./fair-queue.js";
import type { FormatName } from "./formats/formats.js";
import { ClassBook } from "./hints.js";
import { Histogram, type HistogramSnapshot } from "./histogram.js";
import { hintsOf, settingsOf, type ParserPoolOptions } from "./options.js";
import { WorkerThreads } from "./worker-threads.js";

/** One answer on its way in; see decode-stream. */
export interface AnswerStream {
  /** Room for the next bytes of the body, never empty; valid until the next call. */
  space(): Uint8Array;
  /** `length` bytes stand in `space()`. False: stop reading until onDrain. */
  commit(length: number): boolean;
  /**
   * The body is complete. Resolves when every batch has been handed over.
   * @throws XoError BAD_ANSWER, ANSWER_TOO_LARGE, ANSWER_TOO_DEEP, PARSER_FAILED, QUEUE_FULL, CLOSED
   */
  end(): Promise<DecodedAnswer>;
  /** Nobody wants it any more: memory is let go, `end` rejects with `reason`. */
  abort(reason: Error): void;
}

export interface PriorityStats {
  /** Tasks waiting now. */
  readonly queued: number;
  /** Tasks done so far. */
  readonly tasks: number;
  /** Time from handing a task in to its result, less the work: queue and hops. Tasks done in place do not wait. */
  readonly waitMs: HistogramSnapshot;
  /** Time that the work took. */
  readonly runMs: HistogramSnapshot;
}

export interface ParserPoolStats {
  /** Worker threads now. */
  readonly threads: number;
  /** Answers on their way in. */
  readonly streams: number;
  /** Tasks done in place. */
  readonly tasksInPlace: number;
  /** Tasks done by workers. */
  readonly tasksByWorkers: number;
  readonly priorities: Readonly<Record<DecodePriority, PriorityStats>>;
}

/** Turns the bytes of XAPI's answers into values and record batches, off the main thread. */
export interface ParserPool {
  open(request: DecodeRequest, handlers: StreamHandlers): AnswerStream;
  stats(): ParserPoolStats;
  /** Streams that are open fail with CLOSED; resolves when the threads have ended. */
  close(): Promise<void>;
}

export function createParserPool(options: ParserPoolOptions = {}): ParserPool {
  const settings = settingsOf(options);
  const hints = hintsOf(settings);
  const classes = new ClassBook(hints);
  const { place, inlineBelowBytes, clock } = settings;
  const threads =
    place === "main" ? undefined : new WorkerThreads(hints, settings);
  const streams = new Set<DecodeStream>();
  const meters = new Map(PRIORITIES.map((name) => [name, new Meter()]));
  const tasks = { inPlace: 0, byWorkers: 0 };
  let closed = false;

  const runInPlace = (task: DecodeTask, request: DecodeRequest): Runner => {
    const result = runTask(task, classes);
    const meter = meters.get(request.priority)!;
    const record = (done: DecodeResult | DecodeFailure) => {
      tasks.inPlace++;
      meter.record(0, done.runMs);
      return done;
    };
    return {
      result: result instanceof Promise ? result.then(record) : record(result),
    };
  };

  const runByWorker = (
    workers: WorkerThreads,
    task: DecodeTask,
    request: DecodeRequest,
  ): Runner => {
    const submitted = workers.submit(task, request);
    const started = clock.now();
    const result = submitted.result.then((done) => {
      tasks.byWorkers++;
      const elapsed = clock.now() - started;
      meters.get(request.priority)!.record(elapsed - done.runMs, done.runMs);
      return done;
    });
    return { result, cancel: () => submitted.cancel() };
  };

  const open = (request: DecodeRequest, handlers: StreamHandlers) => {
    if (closed) throw new XoError("CLOSED", { what: "the parser pool" });
    const format = formatOf(request.encoding);
    const stream: DecodeStream = new DecodeStream(request, handlers, {
      format,
      whole: request.shape === "value",
      segmentBytes: settings.segmentBytes,
      maxBodyBytes: settings.maxBodyBytes,
      classNameOf: settings.classNameOf,
      run: (task, bytes) =>
        threads === undefined || (place === "auto" && bytes < inlineBelowBytes)
          ? runInPlace(task, request)
          : runByWorker(threads, task, request),
      onClose: () => void streams.delete(stream),
    });
    streams.add(stream);
    return stream;
  };

  const stats = (): ParserPoolStats => {
    const statsOf = (name: DecodePriority): PriorityStats => ({
      queued: threads?.waiting(name) ?? 0,
      ...meters.get(name)!.snapshot(),
    });
    return {
      threads: threads?.threads ?? 0,
      streams: streams.size,
      tasksInPlace: tasks.inPlace,
      tasksByWorkers: tasks.byWorkers,
      priorities: {
        call: statsOf("call"),
        event: statsOf("event"),
        bulk: statsOf("bulk"),
      },
    };
  };

  const close = async () => {
    closed = true;
    for (const stream of [...streams])
      stream.fail(new XoError("CLOSED", { what: "the parser pool" }));
    await threads?.close();
  };

  return { open, stats, close };
}

function formatOf(encoding: WireEncoding): FormatName {
  if (encoding === "json-rpc") return "json-rpc";
  if (encoding === "xml-rpc") return "xml-reader";
  const reason = "it is not read yet";
  throw new XoError("UNSUPPORTED", { what: encoding, reason });
}

/** What is measured of one priority. */
class Meter {
  #tasks = 0;
  readonly #waitMs = new Histogram();
  readonly #runMs = new Histogram();

  record(waitMs: number, runMs: number): void {
    this.#tasks++;
    this.#waitMs.record(Math.max(0, waitMs));
    this.#runMs.record(runMs);
  }

  snapshot() {
    return {
      tasks: this.#tasks,
      waitMs: this.#waitMs.snapshot(),
      runMs: this.#runMs.snapshot(),
    };
  }
}
