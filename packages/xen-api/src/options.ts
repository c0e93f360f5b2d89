import type { Clock } from "./clock.js";
import type { Decoder } from "./decoder.js";
import type { Logger } from "./logger.js";
import type { TlsPolicy } from "./http/tls-policy.js";

/** One way to put a call on the wire; see transports/. */
export type TransportName = "json-rpc" | "json-in-xml" | "xml-rpc";

export interface BackoffOptions {
  /** Upper end of the first pause, in ms. Default 500. */
  readonly firstMs?: number;
  /** Upper end of any pause, in ms. Default 30,000. */
  readonly maxMs?: number;
  /** Pause after a refused password, in ms: a locked account helps nobody. Default 300,000. */
  readonly authMs?: number;
}

export interface XapiOptions {
  /**
   * Where the pool may answer: `https://host`, `http://host:port` or `host`
   * (https). The first that leads to the coordinator is taken; the addresses of
   * all members are learned and join the list.
   */
  readonly hosts: string | readonly string[];
  readonly user: string;
  readonly password: string;
  /** Default `auto`: the best that the pool speaks. */
  readonly transport?: "auto" | TransportName;
  /** Default `{ verify: true }`. */
  readonly tls?: TlsPolicy;
  /** `http://[user:password@]host:port` of an HTTP proxy that takes CONNECT. */
  readonly proxy?: string;
  /** Only calls that read are let through. Default false. */
  readonly readOnly?: boolean;
  /** Who we are, at login: XAPI counts sessions by it (500 each). Default `xo-server`. */
  readonly originator?: string;
  /** Decodes what the pool answers: `createParserPool()` of `@xo-server/parser-pool`. */
  readonly decoder: Decoder;
  /** Calls at a time, event.from not counted. Default 8. */
  readonly maxConcurrentCalls?: number;
  /** Calls waiting for their turn before QUEUE_FULL. Default 10,000. */
  readonly maxQueuedCalls?: number;
  /** For a connection to stand, in ms; a login may take three times that. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Time that a call may take, in ms. Default 300,000: some synchronous calls are slow. */
  readonly callTimeoutMs?: number;
  /** How long the pool may hold an event.from back, in ms. Default 45,000; keep it under the idle limits of what lies between. */
  readonly eventTimeoutMs?: number;
  /** Time over eventTimeoutMs until a silent connection counts as dead, in ms. Default 10,000. */
  readonly eventGraceMs?: number;
  /** Least time between the beginnings of two answers of event.from, in ms: XAPI coalesces meanwhile. Default DEFAULT_THROTTLE_MS. */
  readonly throttleMs?: number;
  /** Largest answer taken, in bytes. Default 2 GiB. */
  readonly maxBodyBytes?: number;
  /** How long a cancelled task may take to end before callAsync gives up on it, in ms. Default 30,000. */
  readonly cancelGraceMs?: number;
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
  /** A number from 0 to 1 (excluded), as Math.random. */
  readonly random?: () => number;
  readonly logger?: Logger;
  /** The members' addresses as urls, whenever they change: keep them, and give them as `hosts` next time. */
  readonly onCandidates?: (hosts: readonly string[]) => void;
}

/**
 * Least time between the beginnings of two answers of event.from unless the
 * options say otherwise, in ms. By measurement (docs/benchmarks/events.md, 2,000
 * changes a second): changes arrive within 340 ms (p99) at 250, 620 at 500, 80
 * without a pause; answers fall from 16 a second without to 3 at 250.
 */
export const DEFAULT_THROTTLE_MS = 250;
