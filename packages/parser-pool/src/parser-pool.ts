import {
  XoError,
  type DecodePriority,
  type DecodeRequest,
  type DecodedAnswer,
  type WireEncoding,
} from "@xo-server/model";
import {
  DecodeStream,
  type TaskRun,
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
import { usesRecordUnits } from "./formats/record-units.js";
import type { XportTable } from "./formats/xport-table.js";
import { ClassRegistry, type ClassHints } from "./formats/class-registry.js";
import type { DurationHistogramSnapshot } from "./histogram.js";
import { TaskMeter } from "./task-meter.js";
import {
  hintsOf,
  settingsOf,
  type ParserPoolOptions,
  type Settings,
  type XmlParser,
} from "./options.js";
import { SegmentPool } from "./segment-pool.js";
import { WorkerThreads } from "./worker-threads.js";

/** The body of one answer while it arrives; see DecodeStream. */
export interface AnswerStream {
  /** Free space for the next bytes of the body, never empty; valid until the next call. */
  space(): Uint8Array;
  /** `length` bytes were written to `space()`. @returns false: stop reading until onDrain */
  commit(length: number): boolean;
  /**
   * Call when the body is complete. Resolves after the last onBatch.
   * @throws XoError BAD_ANSWER, ANSWER_TOO_LARGE, ANSWER_TOO_DEEP, PARSER_FAILED, QUEUE_FULL, CLOSED
   */
  end(): Promise<DecodedAnswer>;
  /** Discards the answer and frees its memory; `end` rejects with `reason`. */
  abort(reason: Error): void;
}

export interface PriorityStats {
  /** Tasks queued now. */
  readonly queued: number;
  /** Completed tasks. */
  readonly tasks: number;
  /** Time from submitting a task to its result, less its duration: queue and thread hops. 0 for tasks in place. */
  readonly waitMs: DurationHistogramSnapshot;
  /** Duration of the tasks. */
  readonly runMs: DurationHistogramSnapshot;
}

export interface ParserPoolStats {
  /** Worker threads now. */
  readonly threads: number;
  /** A thread has started; until then answers of one segment are decoded in place (with `place: auto`). */
  readonly isUp: boolean;
  /** Ordinary records are split by WebAssembly, which the first one loads; false: the module is missing, decoding is slower. */
  readonly usesWebAssembly: boolean;
  /** Open streams. */
  readonly streams: number;
  /** Tasks run in place. */
  readonly tasksInPlace: number;
  /** Tasks run by workers. */
  readonly tasksByWorkers: number;
  readonly priorities: Readonly<Record<DecodePriority, PriorityStats>>;
}

/** Decodes the bytes of XAPI's answers into values and record batches, off the main thread. */
export interface ParserPool {
  open(request: DecodeRequest, handlers: StreamHandlers): AnswerStream;
  /**
   * Decodes the complete body of an answer to `rrd_updates`. The buffers of its
   * parts are transferred and cannot be used afterwards.
   * @param lane lane in the queue
   * @param knownLegend key of a legend that the caller has: it is not decoded again
   * @throws XoError BAD_ANSWER, ANSWER_TOO_LARGE, PARSER_FAILED, QUEUE_FULL, CLOSED
   */
  readXport(
    parts: readonly Uint8Array<ArrayBuffer>[],
    lane: string,
    knownLegend?: string,
  ): Promise<XportTable>;
  /**
   * Decodes the complete body of an answer to `vm_rrd?json`: one table for each
   * archive of averages, the finest first. Otherwise as readXport.
   */
  readRrd(
    parts: readonly Uint8Array<ArrayBuffer>[],
    lane: string,
  ): Promise<readonly XportTable[]>;
  /**
   * Starts the threads that are kept (`minThreads`), for a pool that starts them on
   * demand. Each takes 60 to 100 ms of CPU, which a program without pools can save.
   * Resolves when one is up, or has failed to start.
   */
  warmUp(): Promise<void>;
  stats(): ParserPoolStats;
  /** Open streams fail with CLOSED; resolves when the threads have ended. */
  close(): Promise<void>;
}

/**
 * Starts its threads at once, unless they start on demand (`startsOnDemand`);
 * `close` ends them.
 */
export function createParserPool(options: ParserPoolOptions = {}): ParserPool {
  return new Pool(settingsOf(options));
}

/** Decoding a byte of numbers takes about as long as this many bytes of records. */
const XPORT_WEIGHT = 4;

type Chunks = readonly Uint8Array<ArrayBuffer>[];

class Pool implements ParserPool {
  readonly #settings: Settings;
  #hints: ClassHints | undefined;
  #classes: ClassRegistry | undefined;
  readonly #threads: WorkerThreads | undefined;
  readonly #segments: SegmentPool;
  readonly #streams = new Set<DecodeStream>();
  readonly #meters = new Map(PRIORITIES.map((name) => [name, new TaskMeter()]));
  #tasksInPlace = 0;
  #tasksByWorkers = 0;
  #closed = false;
  #hasLoggedFallback = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#segments = new SegmentPool(settings.segmentBytes);
    if (settings.place !== "main")
      this.#threads = new WorkerThreads(() => this.#readHints(), settings);
    if (!settings.startsOnDemand) void this.warmUp();
  }

  /** Read by the first task: a program without pools does not load the data model. */
  #readHints(): ClassHints {
    this.#hints ??= hintsOf(this.#settings);
    return this.#hints;
  }

  async warmUp(): Promise<void> {
    if (!this.#closed && this.#settings.minThreads > 0)
      await this.#threads?.warmUp();
  }

  open(request: DecodeRequest, handlers: StreamHandlers): AnswerStream {
    if (this.#closed) throw new XoError("CLOSED", { what: "the parser pool" });
    const settings = this.#settings;
    const format = formatOf(request.encoding, settings.xml);
    const stream: DecodeStream = new DecodeStream(request, handlers, {
      format,
      needsWholeAnswer: request.shape === "value" || !STREAMING.has(format),
      segmentBytes: settings.segmentBytes,
      maxBodyBytes: settings.maxBodyBytes,
      segments: this.#segments,
      classNameOf: settings.classNameOf,
      run: (task, bytes) => this.#run(task, bytes, request),
      onClose: () => void this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  async readXport(parts: Chunks, lane: string, knownLegend?: string) {
    const [table] = await this.#readTables("xport", parts, lane, knownLegend);
    return table!;
  }

  readRrd(parts: Chunks, lane: string): Promise<readonly XportTable[]> {
    return this.#readTables("rrd", parts, lane);
  }

  async #readTables(
    format: "xport" | "rrd",
    parts: Chunks,
    lane: string,
    state?: string,
  ): Promise<readonly XportTable[]> {
    if (this.#closed) throw new XoError("CLOSED", { what: "the parser pool" });
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const limit = this.#settings.maxBodyBytes;
    if (bytes > limit) throw new XoError("ANSWER_TOO_LARGE", { bytes, limit });
    const request: DecodeRequest = {
      encoding: "json-rpc",
      shape: "value",
      priority: "bulk",
      lane,
    };
    const task: DecodeTask = {
      format,
      shape: "value",
      className: "",
      final: true,
      state,
      pieces: parts.map((part) => ({
        bytes: part,
        start: 0,
        end: part.length,
      })),
    };
    const result = await this.#run(task, bytes * XPORT_WEIGHT, request).result;
    if ("failed" in result)
      throw new XoError(result.failed.code, result.failed.data);
    return result.tables!;
  }

  stats(): ParserPoolStats {
    const threads = this.#threads;
    const statsOf = (name: DecodePriority): PriorityStats => ({
      queued: threads?.waiting(name) ?? 0,
      ...this.#meters.get(name)!.snapshot(),
    });
    return {
      threads: threads?.threads ?? 0,
      isUp: threads?.isUp ?? false,
      usesWebAssembly: usesRecordUnits(),
      streams: this.#streams.size,
      tasksInPlace: this.#tasksInPlace,
      tasksByWorkers: this.#tasksByWorkers,
      priorities: {
        call: statsOf("call"),
        event: statsOf("event"),
        bulk: statsOf("bulk"),
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of [...this.#streams])
      stream.fail(new XoError("CLOSED", { what: "the parser pool" }));
    await this.#threads?.close();
  }

  /** @param bytes size of the whole answer */
  #run(task: DecodeTask, bytes: number, request: DecodeRequest): TaskRun {
    const { place, inlineBelowBytes, segmentBytes } = this.#settings;
    const threads = this.#threads;
    // An answer of one segment takes 1 to 3 ms in place: less than the start of the first thread.
    const isInPlace =
      place === "auto" &&
      (bytes < inlineBelowBytes ||
        (bytes <= segmentBytes && mayRunInPlace(task, threads)));
    return threads === undefined || isInPlace
      ? this.#runInPlace(task, request)
      : this.#runByWorker(threads, task, request);
  }

  #runInPlace(task: DecodeTask, { priority }: DecodeRequest): TaskRun {
    this.#classes ??= new ClassRegistry(this.#readHints());
    const result = runTask(task, this.#classes);
    this.#tasksInPlace++;
    this.#meters.get(priority)!.record(0, result.runMs);
    this.#logFallback(result);
    return { result };
  }

  #runByWorker(
    threads: WorkerThreads,
    task: DecodeTask,
    request: DecodeRequest,
  ): TaskRun {
    const { clock } = this.#settings;
    const started = clock.now();
    const spareBytes = task.final ? 0 : this.#segments.requestSpare();
    const submitted = threads.submit({ ...task, spareBytes }, request);
    const result = submitted.result.then((done) => {
      this.#tasksByWorkers++;
      if (spareBytes > 0) this.#segments.addSpare(done.spare);
      const waitMs = clock.now() - started - done.runMs;
      this.#meters.get(request.priority)!.record(waitMs, done.runMs);
      this.#logFallback(done);
      return done;
    });
    const undelivered = () => {
      if (spareBytes > 0) this.#segments.addSpare(undefined);
    };
    result.catch(undelivered);
    const cancel = () => {
      if (submitted.cancel()) undelivered();
    };
    return { result, cancel };
  }

  #logFallback(result: DecodeResult | DecodeFailure): void {
    if ("failed" in result || result.fallbackReason === undefined) return;
    if (this.#hasLoggedFallback) return;
    this.#hasLoggedFallback = true;
    this.#settings.logger.warn(
      "node-expat is not available: XML is decoded by the built-in reader",
      { reason: result.fallbackReason },
    );
  }
}

/** The format decodes segments, and no thread is up yet. */
function mayRunInPlace(task: DecodeTask, threads: WorkerThreads | undefined) {
  return (
    task.shape !== "value" &&
    STREAMING.has(task.format) &&
    threads?.ensureUp() === false
  );
}

/** Formats that decode an answer while it arrives; the others need the whole answer. */
const STREAMING: ReadonlySet<FormatName> = new Set<FormatName>([
  "json-rpc",
  "xml-reader",
  "json-in-xml-reader",
]);

function formatOf(encoding: WireEncoding, xml: XmlParser): FormatName {
  switch (encoding) {
    case "json-rpc":
      return "json-rpc";
    case "xml-rpc":
      return `xml-${xml}`;
    case "json-in-xml":
      return `json-in-xml-${xml}`;
  }
}
