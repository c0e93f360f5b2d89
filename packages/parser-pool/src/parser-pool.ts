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
import { recordUnits } from "./formats/record-units.js";
import type { XportTable } from "./formats/xport-table.js";
import { ClassRegistry } from "./formats/class-registry.js";
import type { HistogramSnapshot } from "./histogram.js";
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
  /** A thread is up: until then answers of one segment are read in place (with `place: auto`). */
  readonly isUp: boolean;
  /** Plain records are read in WebAssembly; false where its module is missing: all is right, but slower. */
  readonly usesWebAssembly: boolean;
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
  /**
   * Reads the body of an answer to `rrd_updates`, whole. Its parts, each a buffer
   * of its own, are given away.
   * @param lane whose turn it is
   * @param known key of a legend that the caller has: it is not made again
   * @throws XoError BAD_ANSWER, ANSWER_TOO_LARGE, PARSER_FAILED, QUEUE_FULL, CLOSED
   */
  readXport(
    parts: readonly Uint8Array<ArrayBuffer>[],
    lane: string,
    known?: string,
  ): Promise<XportTable>;
  /**
   * Reads the body of an answer to `vm_rrd?json`, whole: a table for each archive
   * of averages, the finest first. As above.
   */
  readRrd(
    parts: readonly Uint8Array<ArrayBuffer>[],
    lane: string,
  ): Promise<readonly XportTable[]>;
  stats(): ParserPoolStats;
  /** Streams that are open fail with CLOSED; resolves when the threads have ended. */
  close(): Promise<void>;
}

export function createParserPool(options: ParserPoolOptions = {}): ParserPool {
  return new Pool(settingsOf(options));
}

/** A byte of numbers takes about as long as so many of records. */
const XPORT_WEIGHT = 4;

type Chunks = readonly Uint8Array<ArrayBuffer>[];

class Pool implements ParserPool {
  readonly #settings: Settings;
  readonly #classes: ClassRegistry;
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
    const hints = hintsOf(settings);
    this.#segments = new SegmentPool(settings.segmentBytes);
    this.#classes = new ClassRegistry(hints);
    if (settings.place !== "main")
      this.#threads = new WorkerThreads(hints, settings);
    if (settings.minThreads > 0) this.#threads?.ensureUp();
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

  async readXport(parts: Chunks, lane: string, known?: string) {
    const [table] = await this.#readTables("xport", parts, lane, known);
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
      usesWebAssembly: recordUnits() !== undefined,
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

  /** `bytes`: the length of the whole answer. */
  #run(task: DecodeTask, bytes: number, request: DecodeRequest): TaskRun {
    const { place, inlineBelowBytes, segmentBytes } = this.#settings;
    const threads = this.#threads;
    // An answer of one segment takes 1 to 3 ms in place: better than to wait for the first thread to start.
    const isInPlace =
      place === "auto" &&
      (bytes < inlineBelowBytes ||
        (bytes <= segmentBytes && mayRunInPlace(task, threads)));
    return threads === undefined || isInPlace
      ? this.#runInPlace(task, request)
      : this.#runByWorker(threads, task, request);
  }

  #runInPlace(task: DecodeTask, { priority }: DecodeRequest): TaskRun {
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
      "node-expat cannot be used here: XML is read by the built-in reader",
      { reason: result.fallbackReason },
    );
  }
}

/** A format that reads segments, and no thread that could do it at once. */
function mayRunInPlace(task: DecodeTask, threads: WorkerThreads | undefined) {
  return (
    task.shape !== "value" &&
    STREAMING.has(task.format) &&
    threads?.ensureUp() === false
  );
}

/** Formats that read an answer while it arrives; the others need the whole of it. */
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
