import type { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import type { DecodePriority, RecordBatch, Ref } from "@xo-server/model";
import type { TransportName } from "./options.js";

/** The transitions are documented at the class XapiSession. */
export type XapiState =
  | { readonly name: "disconnected" }
  | {
      readonly name: "connecting";
      readonly address: string;
      /** Why the attempts since the last connection failed. Absent: none has failed yet. */
      readonly cause?: Error;
    }
  | {
      readonly name: "connected";
      readonly address: string;
      readonly transport: TransportName;
      readonly pool: PoolIdentity;
      /** Number of the login: data of another session may be outdated. */
      readonly generation: number;
      /** Name of what the coordinator is reached through; absent: directly. See IndirectRoute. */
      readonly via?: string;
    }
  | {
      readonly name: "backing-off";
      readonly delayMs: number;
      readonly cause: Error;
      /** The password was accepted before and is tried again soon, although `cause` is permanent by itself. */
      readonly isPassing: boolean;
    }
  | { readonly name: "stopped" };

export interface PoolIdentity {
  readonly ref: Ref;
  readonly uuid: string;
}

/** How long a call waits for a connection before it is sent. */
export interface WaitOptions {
  /**
   * Up to its time limit. Default: for `unreachableMs` if the pool cannot be reached, so that a user learns about it: nothing was done.
   */
  readonly isPatient?: boolean;
}

/** For a caller that may have lost the right to act while the call waited. */
export interface SendOptions extends WaitOptions {
  /**
   * Called immediately before the request is sent, each time that it is; if it throws, nothing is sent, and the call rejects with that error.
   * @param session the reference of its session, a secret
   */
  readonly beforeSend?: (session: string) => void;
}

export interface CallOptions extends SendOptions {
  /** Default: callTimeoutMs of the client. Includes waiting for a connection and in the queue. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Default `call`. */
  readonly priority?: DecodePriority;
  /** May run twice. Default: from the data model (getters, lists, event.*). */
  readonly idempotent?: boolean;
}

export interface AsyncCallOptions extends SendOptions {
  /** Entries of the task's other_config, set when XAPI creates the task. Keys and values of printable ASCII. */
  readonly marks?: Readonly<Record<string, string>>;
  /** Called when the progress changes; 0 to 1. */
  readonly onProgress?: (progress: number) => void;
  /** Aborting cancels the task on the pool; the promise still settles with the outcome of the task. */
  readonly signal?: AbortSignal;
  /** Called with the reference of the task when it has started; persist it to find the task after a restart. */
  readonly onTask?: (task: Ref) => void;
  /**
   * Called once if the call is not answered, and the pool is reached in another way now than when it was sent: it may
   * have been lost. It is waited for until its time limit, as it may still arrive.
   * @param via name of what the pool is reached through
   */
  readonly onUnanswered?: (via: string) => void;
  /** The ended task is destroyed on the pool only after this has resolved. */
  readonly keepUntil?: Promise<unknown>;
}

export interface ListOptions {
  readonly onBatch: (batch: RecordBatch) => void;
  readonly signal?: AbortSignal;
  /** Default `bulk`. */
  readonly priority?: DecodePriority;
  /** The buffers of the batches are kept for long, see RecordBuffer. Default false. */
  readonly isKept?: boolean;
  readonly timeoutMs?: number;
}

export interface ListResult {
  readonly records: number;
  /** Size of the answer, in bytes. */
  readonly bytes: number;
}

/** A position in the changes of a pool, from which `events` can continue. */
export interface EventPosition {
  /** Token of event.from or event.inject: `<database generation>,<message generation>`. */
  readonly token: string;
  /**
   * The process of XAPI that issued the token. While it is the same, its database was not restored, and the token
   * is valid in any session. Absent: the pool does not report it; the token is valid in its session only.
   */
  readonly issuer?: string;
}

export interface EventsOptions {
  /** Class filters of event.from: `*`, `VM`, `VM/OpaqueRef:...`. Default `["*"]`. */
  readonly classes?: readonly string[];
  /** Token to continue from. Default: "", all objects are sent first. */
  readonly from?: string;
  /** See EventPosition. With it the stream continues in other sessions of the same process of XAPI. */
  readonly issuer?: string | undefined;
  readonly throttleMs?: number;
  readonly signal?: AbortSignal;
}

export type LostReason =
  | "events-lost"
  | "new-session"
  | "new-coordinator"
  | "xapi-restarted"
  | "token-rewound";

/**
 * Items of the event stream. `lost` is always the last one: list all records
 * again and open a new stream with a new token.
 */
export type XapiEvents =
  | {
      readonly kind: "changes";
      /** Empty after an idle poll. */
      readonly batches: readonly RecordBatch[];
      /** All changes up to this token have been delivered. */
      readonly token: string;
      /** Number of existing objects by class. A mirror with another number has missed deletions, which XAPI can drop. */
      readonly validRefCounts: ReadonlyMap<string, number>;
    }
  | {
      /** The pool does not answer event.from: later changes are unknown. Once per failure; `changes` or `lost` follows when it answers again. */
      readonly kind: "silent";
      /** Time since the last complete answer, in ms. */
      readonly forMs: number;
      /** XoError EVENTS_SILENT */
      readonly error: Error;
    }
  | { readonly kind: "lost"; readonly reason: LostReason };

export interface StreamOptions extends WaitOptions {
  /** Path of the handler, such as `/export`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A task of task.create, in which the handler reports progress and outcome. */
  readonly task?: Ref;
  /** Address of another member; default: the coordinator. */
  readonly host?: string;
  readonly signal?: AbortSignal;
}

export interface PutStreamOptions extends StreamOptions {
  /** Size of the body, in bytes. Without it the end of the connection ends the body: XAPI does not accept chunked requests. */
  readonly contentLength?: number;
}

export interface StreamAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The task in which the handler reports, if the answer names one. */
  readonly task: Ref | undefined;
}

/** A HTTP handler of XAPI for another process: it contains the session, which is a secret. */
export interface StreamTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The certificate (PEM) that the host presents, verified by the policy of the connection; absent: plain HTTP. */
  readonly tls?: { readonly certificate: string };
  /** Path of a Unix socket through which the host is reached; absent: by the URL. */
  readonly socketPath?: string;
}

/** An NBD server of a pool, as `VDI.get_nbd_info` names it. */
export interface NbdAddress {
  /** IP address. */
  readonly address: string;
  readonly port: number;
  /** A disk that it shows. */
  readonly vdi: Ref;
}

/** Counters since the client was created. */
export interface XapiCounters {
  readonly bytesReceived: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly eventAnswers: number;
  readonly logins: number;
}

/** One pool, one session. */
export interface Xapi {
  /** Name in logs: `root@192.0.2.1`. */
  readonly label: string;
  readonly state: XapiState;
  readonly counters: XapiCounters;
  /** Calls the listener at each state change. @returns a function that removes the listener */
  onState(listener: (state: XapiState) => void): () => void;
  /**
   * Resolves when connected. Network errors are retried without limit; a
   * rejected password or an untrusted certificate rejects (and is still retried,
   * at long intervals, until disconnect).
   */
  connect(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Logs out and closes all connections. The client cannot be used afterwards. */
  disconnect(): Promise<void>;
  /**
   * @param params without the session
   * @throws XapiError returned by the pool; XoError for everything else
   */
  call(
    method: string,
    params?: readonly unknown[],
    options?: CallOptions,
  ): Promise<unknown>;
  /** Calls `Async.<method>`; resolves with the decoded result of the task when the task has ended. */
  callAsync(
    method: string,
    params?: readonly unknown[],
    options?: AsyncCallOptions,
  ): Promise<unknown>;
  /** Waits for a task created by another call, such as that of a stream; `resultType` as in the data model. */
  watchTask(
    task: Ref,
    options?: AsyncCallOptions & { readonly resultType?: string },
  ): Promise<unknown>;
  /**
   * Waits for a session.
   * @param call for which it is needed
   * @returns its reference, a secret; calls may use another one later
   * @throws XoError NOT_CONNECTED, CALL_NOT_SENT, CLOSED
   */
  session(call?: WaitOptions & { readonly method?: string }): Promise<string>;
  /**
   * Waits until the tasks of a session have ended, and logs it out: XAPI refuses requests of it that arrive later, before it
   * creates their tasks. Resolves at once if the session does not exist.
   * @param session its reference, a secret; also of another client
   * @throws XapiError, XoError; ABORTED: tasks were still pending
   */
  endSession(session: string, signal: AbortSignal): Promise<void>;
  /** `get_all_records`, delivered in batches as they arrive. */
  listRecords(className: string, options: ListOptions): Promise<ListResult>;
  /** Classes to mirror that this pool supports. */
  listableClasses(): Promise<readonly string[]>;
  /** A token for the current state: all changes after this call are newer than the token. */
  injectToken(): Promise<string>;
  /** As `injectToken`, with the issuer of the token. */
  eventPosition(): Promise<EventPosition>;
  events(options?: EventsOptions): AsyncIterable<XapiEvents>;
  getStream(
    options: StreamOptions,
  ): Promise<StreamAnswer & { readonly body: Readable }>;
  putStream(body: Readable, options: PutStreamOptions): Promise<StreamAnswer>;
  /**
   * Returns the target of a request that another process sends. There are no redirects if
   * `host` is the right member.
   */
  streamTarget(options: StreamOptions): Promise<StreamTarget>;
  /**
   * For another process that reads a disk by NBD.
   * @returns path of a Unix socket by which it reaches the server, if the pool is reached indirectly; undefined: it connects to the server itself
   * @throws XoError NOT_CONNECTED, UNREACHABLE
   */
  nbdSocket(server: NbdAddress): Promise<string | undefined>;
  /** HTTP CONNECT: a bidirectional byte stream, for consoles. */
  connectStream(options: StreamOptions): Promise<Duplex>;
  /**
   * Opens a connection to a member for another client of the pool, which starts TLS. Nothing is sent on it.
   * @param member URL, as in XapiOptions.hosts, or of an NBD server as `nbdSocket` has requested it
   * @throws XoError UNSUPPORTED: it is not a known member, or not reached directly
   */
  openMember(member: string, signal: AbortSignal): Promise<Socket>;
}
