import { availableParallelism } from "node:os";
import { silentLogger, type Logger, type MonotonicClock } from "@xo-server/kit";
import {
  classNameOf,
  columnsOf,
  datamodel,
  integerFields,
} from "@xo-server/model";
import type {
  ClassHint,
  ClassHints,
  IntegerPosition,
} from "./formats/class-registry.js";

/** Where answers are decoded. `auto`: small ones on the main thread, others in a worker. */
export type Place = "auto" | "main" | "worker";

/** Parser for XML: our own reader, the native Expat, or that of the xmlrpc package. */
export type XmlParser = "reader" | "expat" | "xmlrpc";

export interface ParserPoolOptions {
  readonly place?: Place;
  readonly xml?: XmlParser;
  /** Fail with UNSUPPORTED if node-expat is not installed, instead of using `reader`. */
  readonly xmlStrict?: boolean;
  /** Module to load for `expat`. Default: `node-expat`. */
  readonly expatModule?: string;
  /** Threads are started at once and stay: starting one takes 60 ms. */
  readonly minThreads?: number;
  /** The first threads are started by `warmUp` or by the first task, not at once. Default: false. */
  readonly startsOnDemand?: boolean;
  /** Default: number of cores - 1, at least 1. */
  readonly maxThreads?: number;
  /** An idle thread ends after this time, in ms. */
  readonly idleTimeoutMs?: number;
  /** With `place: auto`: smaller answers, in bytes, are decoded on the main thread. */
  readonly inlineBelowBytes?: number;
  /** Bytes of an answer that a worker decodes at a time. */
  readonly segmentBytes?: number;
  /** Larger answers, in bytes, are rejected with ANSWER_TOO_LARGE. */
  readonly maxBodyBytes?: number;
  /** Answers nested deeper, including the envelope, are rejected with ANSWER_TOO_DEEP. */
  readonly maxDepth?: number;
  /** Maximum of queued tasks; more fail with QUEUE_FULL. */
  readonly queueLimit?: number;
  /** Heap limit of a worker in MiB; at the limit it is terminated and its task fails with PARSER_FAILED. Default: that of Node. */
  readonly maxWorkerHeapMb?: number;
  /** A task that runs for longer, in ms, is terminated with its worker and fails with PARSER_FAILED. */
  readonly taskTimeoutMs?: number;
  /** Module that the workers run; tests replace it. */
  readonly workerModule?: string;
  /** Classes for which the functions below are called. Default: those of the data model. */
  readonly classes?: readonly string[];
  readonly columnsOf?: (className: string) => readonly string[];
  /** Fields of a class in which XML-RPC sends integers without a tag, and where in the field. */
  readonly integerFieldsOf?: (
    className: string,
  ) => Readonly<Record<string, IntegerPosition>>;
  /** The spelling of a class name in the data model. */
  readonly classNameOf?: (name: string) => string;
  readonly logger?: Logger;
  /** Milliseconds since an arbitrary moment. Default: `performance`. */
  readonly clock?: Pick<MonotonicClock, "now">;
}

export type Settings = Required<
  Omit<ParserPoolOptions, "maxWorkerHeapMb" | "classes">
> & {
  readonly maxWorkerHeapMb: number | undefined;
  /** Undefined: those of the data model, which is loaded when it is needed. */
  readonly classes: readonly string[] | undefined;
};

const MIB = 1024 * 1024;

/** The options with their defaults. */
export function settingsOf(options: ParserPoolOptions): Settings {
  const defaults: Settings = {
    place: "auto",
    xml: "reader",
    xmlStrict: false,
    expatModule: "node-expat",
    minThreads: 1,
    startsOnDemand: false,
    maxThreads: Math.max(1, availableParallelism() - 1),
    idleTimeoutMs: 30_000,
    // A worker costs 0.1 ms of the main thread and 0.13 ms of latency. On the
    // main thread 81 KB of records take 0.1 ms, 163 KB 0.17 ms; XML three times
    // as long. Node 20, 2 shared cores, 2026-11-21.
    inlineBelowBytes: 128 * 1024,
    // 256 KiB to 4 MiB are equally fast (1.13 GB/s, within 4 %). 1 MiB occupies
    // a thread for 1 ms (XML: 3 ms), so that other tasks do not wait long.
    segmentBytes: MIB,
    maxBodyBytes: 1024 * MIB,
    maxDepth: 512,
    queueLimit: 10_000,
    maxWorkerHeapMb: undefined,
    // A segment takes milliseconds, a whole answer of 1 GiB seconds.
    taskTimeoutMs: 60_000,
    workerModule: new URL("./worker-entry.cjs", import.meta.url).href,
    classes: undefined,
    columnsOf,
    integerFieldsOf: integerFields,
    classNameOf,
    logger: silentLogger,
    clock: performance,
  };
  const input = Object.entries(options).filter(
    ([, value]) => value !== undefined,
  );
  return Object.freeze({ ...defaults, ...Object.fromEntries(input) });
}

/** The class hints of the settings, as plain data for workers. */
export function hintsOf(settings: Settings): ClassHints {
  const hintOf = (name: string): ClassHint => ({
    columns: [...settings.columnsOf(name)],
    integers: { ...settings.integerFieldsOf(name) },
  });
  const classes = settings.classes ?? Object.keys(datamodel.classes);
  return {
    classes: Object.fromEntries(classes.map((name) => [name, hintOf(name)])),
    unknownClass: hintOf(""),
    classNames: Object.fromEntries(
      classes.map((name) => [
        name.toLowerCase(),
        settings.classNameOf(name.toLowerCase()),
      ]),
    ),
    maxDepth: settings.maxDepth,
    expatModule: settings.expatModule,
    expatOnly: settings.xmlStrict,
  };
}
