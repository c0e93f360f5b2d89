import type { Duplex, Readable } from "node:stream";
import type { DecodePriority, RecordBatch, Ref } from "@xo-server/model";
import type { TransportName } from "./options.js";

/** See the diagram in README.md. */
export type XapiState =
  | { readonly name: "disconnected" }
  | { readonly name: "connecting"; readonly address: string }
  | {
      readonly name: "connected";
      readonly address: string;
      readonly transport: TransportName;
      readonly pool: PoolIdentity;
      /** Grows with each login: what was learned in another session may be out of date. */
      readonly generation: number;
    }
  | {
      readonly name: "backing-off";
      readonly delayMs: number;
      readonly cause: Error;
    }
  | { readonly name: "stopped" };

export interface PoolIdentity {
  readonly ref: Ref;
  readonly uuid: string;
}

export interface CallOptions {
  /** Default: the client's callTimeoutMs. Covers waiting for a connection and for a turn. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Default `call`. */
  readonly priority?: DecodePriority;
  /** May be made twice without harm. Default: known from the data model (getters, lists, event.*). */
  readonly idempotent?: boolean;
}

export interface AsyncCallOptions {
  /** 0 to 1, whenever it changes. */
  readonly onProgress?: (progress: number) => void;
  /** Aborting cancels the task on the pool; the promise still tells what became of it. */
  readonly signal?: AbortSignal;
  /** The pool does it as this task from now on: whoever writes it down finds it again. */
  readonly onTask?: (task: Ref) => void;
  /** The pool is not told to forget the task, when it has ended, before this has resolved. */
  readonly keepUntil?: Promise<unknown>;
}

export interface ListOptions {
  readonly onBatch: (batch: RecordBatch) => void;
  readonly signal?: AbortSignal;
  /** Default `bulk`. */
  readonly priority?: DecodePriority;
  readonly timeoutMs?: number;
}

export interface ListResult {
  readonly records: number;
  /** Size of the answer's body. */
  readonly bytes: number;
}

export interface EventsOptions {
  /** As event.from takes them: `*`, `VM`, `VM/OpaqueRef:...`. Default `["*"]`. */
  readonly classes?: readonly string[];
  /** Token to go on from. Default: "", every object comes first. */
  readonly from?: string;
  readonly throttleMs?: number;
  readonly signal?: AbortSignal;
}

export type LostReason =
  "events-lost" | "new-session" | "new-coordinator" | "token-rewound";

/**
 * What the event stream says. `lost` is always its last word: list anew, and
 * open a new stream from a new token.
 */
export type XapiEvents =
  | {
      readonly kind: "changes";
      /** Empty after an idle poll. */
      readonly batches: readonly RecordBatch[];
      /** All changes up to here have been told. */
      readonly token: string;
      /** Number of live objects by class: where it differs from what one holds, deletions were dropped. */
      readonly validRefCounts: ReadonlyMap<string, number>;
    }
  | { readonly kind: "lost"; readonly reason: LostReason };

export interface StreamOptions {
  /** Path of the handler, such as `/export`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A task of task.create; the handler reports in it and ends it. */
  readonly task?: Ref;
  /** Another member's address; default: the coordinator. */
  readonly host?: string;
  readonly signal?: AbortSignal;
}

export interface PutStreamOptions extends StreamOptions {
  /** Bytes of the body. Without it the body ends with the connection: XAPI takes no chunks. */
  readonly contentLength?: number;
}

export interface StreamAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The task in which the handler reports, where it names one. */
  readonly task: Ref | undefined;
}

/** Figures since the client was made. */
export interface XapiCounters {
  readonly bytesReceived: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly eventAnswers: number;
  readonly logins: number;
}

/** One pool, one session. */
export interface Xapi {
  /** What logs call it: `root@192.0.2.1`. */
  readonly label: string;
  readonly state: XapiState;
  readonly counters: XapiCounters;
  /** Calls the listener at each new state, until the function returned is called. */
  onState(listener: (state: XapiState) => void): () => void;
  /**
   * Resolves when connected. Network errors are tried again for as long as it
   * takes; a refused password or an untrusted certificate rejects (and is still
   * tried again, rarely, until disconnect).
   */
  connect(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Logs out and lets all connections go. The client cannot be used any more. */
  disconnect(): Promise<void>;
  /**
   * @param params without the session
   * @throws XapiError what the pool answered; XoError what happened on the way
   */
  call(
    method: string,
    params?: readonly unknown[],
    options?: CallOptions,
  ): Promise<unknown>;
  /** `Async.` form of the method; resolves with the task's decoded result when the task has ended. */
  callAsync(
    method: string,
    params?: readonly unknown[],
    options?: AsyncCallOptions,
  ): Promise<unknown>;
  /** Waits for a task made elsewhere, such as that of a stream; `resultType` as in the data model. */
  watchTask(
    task: Ref,
    options?: AsyncCallOptions & { readonly resultType?: string },
  ): Promise<unknown>;
  /** `get_all_records`, told in pieces as they arrive. */
  listRecords(className: string, options: ListOptions): Promise<ListResult>;
  /** Classes to mirror that this pool can list. */
  listableClasses(): Promise<readonly string[]>;
  /** A token of now: all changes that come after this call lie behind it. */
  injectToken(): Promise<string>;
  events(options?: EventsOptions): AsyncIterable<XapiEvents>;
  getStream(
    options: StreamOptions,
  ): Promise<StreamAnswer & { readonly body: Readable }>;
  putStream(body: Readable, options: PutStreamOptions): Promise<StreamAnswer>;
  /** CONNECT: raw bytes both ways, for consoles. */
  connectStream(options: StreamOptions): Promise<Duplex>;
}
