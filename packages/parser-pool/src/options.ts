import { availableParallelism } from "node:os";
import {
  classNameOf,
  columnsOf,
  datamodel,
  integerFields,
} from "@xo-server/model";
import type {
  ClassHint,
  ClassHints,
  IntegerPlace,
} from "./formats/class-registry.js";

export interface Logger {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
}

export interface Clock {
  /** Milliseconds from any start. */
  now(): number;
}

/** Where answers are read. `auto`: small ones in place, the others by a worker. */
export type Place = "auto" | "main" | "worker";

/** How XML is read: our own reader, the native Expat, or the parser of the xmlrpc package. */
export type XmlParser = "reader" | "expat" | "xmlrpc";

export interface ParserPoolOptions {
  readonly place?: Place;
  readonly xml?: XmlParser;
  /** Fail with UNSUPPORTED, instead of taking the reader, where node-expat is not installed. */
  readonly xmlStrict?: boolean;
  /** What to load for `expat`. Default: `node-expat`. */
  readonly expatModule?: string;
  /** Threads that are there from the start and stay: the first one takes 60 ms to come up. */
  readonly minThreads?: number;
  /** Default: all cores but one, at least one. */
  readonly maxThreads?: number;
  /** A thread that had nothing to do for so long ends. */
  readonly idleTimeoutMs?: number;
  /** With `place: auto`: answers of fewer bytes are read in place. */
  readonly inlineBelowBytes?: number;
  /** How much of an answer goes to a worker at a time. */
  readonly segmentBytes?: number;
  /** A longer answer is refused with ANSWER_TOO_LARGE. */
  readonly maxBodyBytes?: number;
  /** An answer nested deeper, its envelope included, is refused with ANSWER_TOO_DEEP. */
  readonly maxDepth?: number;
  /** Tasks that may wait at once; one more fails with QUEUE_FULL. */
  readonly queueLimit?: number;
  /** A worker that needs more JavaScript heap is ended, and its task fails with PARSER_FAILED. Default: Node's own limit. */
  readonly maxWorkerHeapMb?: number;
  /** The classes that the functions below are asked about. Default: those of the data model. */
  readonly classes?: readonly string[];
  readonly columnsOf?: (className: string) => readonly string[];
  /** The fields of a class in which XML-RPC leaves integers untagged, and where they are in them. */
  readonly integerFieldsOf?: (
    className: string,
  ) => Readonly<Record<string, IntegerPlace>>;
  /** The datamodel's spelling of a class name. */
  readonly classNameOf?: (name: string) => string;
  readonly logger?: Logger;
  readonly clock?: Clock;
}

export type Settings = Required<Omit<ParserPoolOptions, "maxWorkerHeapMb">> & {
  readonly maxWorkerHeapMb: number | undefined;
};

const MIB = 1024 * 1024;

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The options with their defaults. */
export function settingsOf(options: ParserPoolOptions): Settings {
  const defaults: Settings = {
    place: "auto",
    xml: "reader",
    xmlStrict: false,
    expatModule: "node-expat",
    minThreads: 1,
    maxThreads: Math.max(1, availableParallelism() - 1),
    idleTimeoutMs: 30_000,
    // A hop costs the main thread some 0.1 ms and the answer 0.13 ms more. In
    // place 81 KB of records take 0.1 ms, 163 KB 0.17 ms; XML three times as
    // much. Node 20, 2 shared cores, 2026-11-21.
    inlineBelowBytes: 128 * 1024,
    // 256 KiB to 4 MiB are split equally fast (1.13 GB/s, within 4 %). 1 MiB
    // holds a thread for 1 ms (XML: 3 ms), so that nobody waits long for a turn.
    segmentBytes: MIB,
    maxBodyBytes: 1024 * MIB,
    maxDepth: 512,
    queueLimit: 10_000,
    maxWorkerHeapMb: undefined,
    classes: Object.keys(datamodel.classes),
    columnsOf,
    integerFieldsOf: integerFields,
    classNameOf,
    logger: silent,
    clock: performance,
  };
  const input = Object.entries(options).filter(
    ([, value]) => value !== undefined,
  );
  return Object.freeze({ ...defaults, ...Object.fromEntries(input) });
}

/** What the settings tell of the classes, as plain data that can go to workers. */
export function hintsOf(settings: Settings): ClassHints {
  const hintOf = (name: string): ClassHint => ({
    columns: [...settings.columnsOf(name)],
    integers: { ...settings.integerFieldsOf(name) },
  });
  return {
    classes: Object.fromEntries(
      settings.classes.map((name) => [name, hintOf(name)]),
    ),
    unknownClass: hintOf(""),
    classNames: Object.fromEntries(
      settings.classes.map((name) => [
        name.toLowerCase(),
        settings.classNameOf(name.toLowerCase()),
      ]),
    ),
    maxDepth: settings.maxDepth,
    expatModule: settings.expatModule,
    expatOnly: settings.xmlStrict,
  };
}
