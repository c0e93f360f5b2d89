import type { Logger, MonotonicClock } from "@xo-server/kit";
import type { Decoder } from "./decoder.js";
import type { EventRelay } from "./events/event-relay.js";
import type { IndirectRoute } from "./http/indirect-route.js";
import type { TlsPolicy } from "./http/tls-policy.js";

/** How calls are encoded; see transports/. */
export type TransportName = "json-rpc" | "json-in-xml" | "xml-rpc";

export interface BackoffOptions {
  /** Maximum of the first pause, in ms. Default 500. */
  readonly firstMs?: number;
  /** Maximum of any pause, in ms. Default 10,000. */
  readonly maxMs?: number;
  /** Pause after a rejected password, in ms; long, so that the account is not locked. Default 300,000. */
  readonly authMs?: number;
}

export interface XapiOptions {
  /**
   * Addresses of pool members: `https://host`, `http://host:port` or `host`
   * (https). The first one that leads to the coordinator is used; the addresses
   * of all members are discovered and appended.
   */
  readonly hosts: string | readonly string[];
  /** Addresses that an earlier run passed to `onCandidates`; used like discovered ones, until the pool has listed its hosts. */
  readonly members?: readonly string[];
  readonly user: string;
  readonly password: string;
  /** Default `auto`: the best transport that the pool supports. */
  readonly transport?: "auto" | TransportName;
  /** Default `{ verify: true }`. */
  readonly tls?: TlsPolicy;
  /** `http://[user:password@]host:port` of an HTTP proxy that supports CONNECT. */
  readonly proxy?: string;
  /** Reject calls that are not read-only with READ_ONLY. Default false. */
  readonly readOnly?: boolean;
  /** Originator at login: XAPI limits sessions per originator (500 each). Default `xo-server`. */
  readonly originator?: string;
  /** Decodes responses of the pool: `createParserPool()` of `@xo-server/parser-pool`. */
  readonly decoder: Decoder;
  /** Concurrent calls, not counting event.from. Default 8. */
  readonly maxConcurrentCalls?: number;
  /** Queued calls before QUEUE_FULL. Default 10,000. */
  readonly maxQueuedCalls?: number;
  /** Time limit to establish a connection, in ms; a login may take three times as long. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Time limit of a call, in ms. Default 300,000: some synchronous calls are slow. */
  readonly callTimeoutMs?: number;
  /** Timeout parameter of event.from, in ms: an idle pool answers this often. Default DEFAULT_EVENT_TIMEOUT_MS. */
  readonly eventTimeoutMs?: number;
  /** Time after eventTimeoutMs at which the pool counts as silent and its coordinator is checked, in ms. Default DEFAULT_EVENT_GRACE_MS. */
  readonly eventGraceMs?: number;
  /** Time limit of the call that checks a silent coordinator, in ms. Default DEFAULT_PROBE_TIMEOUT_MS. */
  readonly probeTimeoutMs?: number;
  /**
   * Time after which a call ends with CALL_NOT_SENT if its pool cannot be reached, and an action that was sent with RESULT_UNKNOWN, in
   * ms: from then on only the log reports that it has arrived. Default 60,000.
   */
  readonly unreachableMs?: number;
  /**
   * Minimum time between two responses of event.from, in ms; XAPI combines changes
   * during that time. Default DEFAULT_THROTTLE_MS.
   */
  readonly throttleMs?: number;
  /** Maximum size of a response that does not list records or events, in bytes. Default 64 MiB. */
  readonly maxValueBytes?: number;
  /** Maximum size of any answer, in bytes. Default 2 GiB. */
  readonly maxBodyBytes?: number;
  /** Time limit for a cancelled task to end before callAsync rejects, in ms. Default 30,000. */
  readonly cancelGraceMs?: number;
  readonly backoff?: BackoffOptions;
  /** Passes events between clients of this pool. Default: each event comes from XAPI. */
  readonly relay?: EventRelay;
  /** The way to members that cannot be reached directly. Default: none. */
  readonly route?: IndirectRoute;
  readonly clock?: MonotonicClock;
  /** A number from 0 to 1 (excluded), as Math.random. */
  readonly random?: () => number;
  readonly logger?: Logger;
  /** Called with the URLs of all candidates when they change: persist them and pass them as `members` next time. */
  readonly onCandidates?: (hosts: readonly string[]) => void;
}

/**
 * Default of `throttleMs`. Measured (docs/benchmarks/events.md, 2,000 changes
 * per second): p99 latency is 340 ms with 250, 620 ms with 500, 80 ms without a
 * pause; 250 reduces the answers from 16 to 3 per second.
 */
export const DEFAULT_THROTTLE_MS = 250;

/**
 * Defaults of `eventTimeoutMs`, `eventGraceMs` and `probeTimeoutMs`: a pool that
 * no longer answers is reported after 13 s, and its coordinator given up after
 * 18 s. The cost at rest is one call per pool every 10 s.
 */
export const DEFAULT_EVENT_TIMEOUT_MS = 10_000;
export const DEFAULT_EVENT_GRACE_MS = 3_000;
export const DEFAULT_PROBE_TIMEOUT_MS = 5_000;
