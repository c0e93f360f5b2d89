import type { MonotonicClock } from "@xo-server/kit";
import type { LeaseOwner } from "@xo-server/store";
import type { Decoder, EventAnswer, RelayRequest } from "@xo-server/xen-api";
import type { Peer } from "../cluster/membership.js";
import type { Logger } from "../log/logger.js";
import { requestFromPeer } from "../peers/peer-request.js";
import { PeerRefusal } from "../peers/refusal.js";
import type { DigestCheck } from "./digest-check.js";
import type { MirrorDigests } from "./digest-frame.js";
import { decodeAnswer } from "./event-answer.js";
import { RelayedEvents } from "./relayed-events.js";
import {
  EVENTS_HEADER,
  EVENTS_PATH,
  type RelayMessages,
} from "./relay-messages.js";

/** After a failure the events of a pool are requested from XAPI for this time, in ms; after each further one for twice as long. */
export const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

interface RelayClientOptions {
  readonly messages: Pick<RelayMessages, "sealRequest" | "openAnswer">;
  readonly self: LeaseOwner;
  readonly decoder: Pick<Decoder, "open">;
  readonly check: Pick<DigestCheck, "compare">;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/** Since the start, except `streams`. */
interface ReceivedEvents {
  /** Streams that are open now. */
  readonly streams: number;
  readonly answers: number;
  /** Streams that failed, or ended by themselves. */
  readonly failed: number;
}

/** The stream of one pool. */
interface Subscription {
  readonly peer: Peer;
  readonly issuer: string;
  readonly abort: AbortController;
  /** Undefined: it is being opened. */
  events: RelayedEvents | undefined;
  /** Digests of the sender that are compared when the mirror has applied the same events. */
  expected: MirrorDigests | undefined;
}

/** Receives the events of pools from other servers of the database. */
export class RelayClient {
  readonly #options: RelayClientOptions;
  readonly #counts = { answers: 0, failed: 0 };
  readonly #subscriptions = new Map<string, Subscription>();
  /** By pool: token up to which its mirror has applied the events, while it applies no further ones. */
  readonly #applied = new Map<string, string>();
  /** By pool: until when events are requested from XAPI, and for how long in all; until the next answer. */
  readonly #avoided = new Map<string, { until: number; ms: number }>();

  constructor(options: RelayClientOptions) {
    this.#options = options;
  }

  get figures(): ReceivedEvents {
    const open = [...this.#subscriptions.values()].filter(
      ({ events }) => events !== undefined,
    );
    return { streams: open.length, ...this.#counts };
  }

  /**
   * See EventRelay.next. Opens the stream in the background: until it is open, events are requested from XAPI.
   * @param peer the server that gets the events from XAPI
   */
  async next(
    poolId: string,
    peer: Peer,
    request: RelayRequest,
  ): Promise<EventAnswer | undefined> {
    const { events } = this.#subscribe(poolId, peer, request) ?? {};
    const encoded = await events?.next(request);
    this.#applied.delete(poolId);
    if (encoded === undefined) return undefined;
    const { decoder } = this.#options;
    try {
      const answer = await decodeAnswer(encoded, decoder, `relay ${poolId}`);
      this.#counts.answers++;
      this.#avoided.delete(poolId);
      return answer;
    } catch (error) {
      events?.close((error as Error).message);
      return undefined;
    }
  }

  /** The mirror is about to apply an answer of XAPI. */
  onAnswer(poolId: string): void {
    this.#applied.delete(poolId);
  }

  /** The mirror has applied the events up to the token, and no later ones. */
  onApplied(poolId: string, token: string): void {
    this.#applied.set(poolId, token);
    this.#compare(poolId);
  }

  /** Compares the digests if the mirror is at the same token as the sender was. */
  #compare(poolId: string): void {
    const subscription = this.#subscriptions.get(poolId);
    const { expected, peer } = subscription ?? {};
    if (expected === undefined || this.#applied.get(poolId) !== expected.token)
      return;
    subscription!.expected = undefined;
    this.#options.check.compare(poolId, peer!.name, expected.digests);
  }

  /** The events of the pool are requested from XAPI from now on. */
  close(poolId: string): void {
    const subscription = this.#subscriptions.get(poolId);
    this.#subscriptions.delete(poolId);
    subscription?.abort.abort();
    subscription?.events?.close("it is not needed any more");
  }

  stop(): void {
    for (const poolId of [...this.#subscriptions.keys()]) this.close(poolId);
  }

  #subscribe(
    poolId: string,
    peer: Peer,
    request: RelayRequest,
  ): Subscription | undefined {
    const found = this.#subscriptions.get(poolId);
    const isUsable =
      found?.peer.instance === peer.instance && found.issuer === request.issuer;
    if (isUsable) return found;
    this.close(poolId);
    const { clock } = this.#options;
    const { until = 0 } = this.#avoided.get(poolId) ?? {};
    if (until > clock.now()) return undefined;
    const abort = new AbortController();
    const { issuer } = request;
    const subscription: Subscription = {
      peer,
      issuer,
      abort,
      events: undefined,
      expected: undefined,
    };
    this.#subscriptions.set(poolId, subscription);
    void this.#open(poolId, subscription, request);
    return undefined;
  }

  /** Never rejects. */
  async #open(
    poolId: string,
    subscription: Subscription,
    { issuer, classes }: RelayRequest,
  ): Promise<void> {
    const { messages, self, clock, logger } = this.#options;
    const { peer, abort } = subscription;
    const { answerId, sealed } = messages.sealRequest({
      poolId,
      issuer,
      classes,
      hasDigests: true,
      from: self.owner,
      to: peer.instance,
    });
    try {
      const body = await requestFromPeer(peer, {
        path: EVENTS_PATH,
        sealed,
        clock,
        signal: abort.signal,
      });
      const header = String(body.headers[EVENTS_HEADER] ?? "");
      const answer = messages.openAnswer(header, answerId);
      if (answer === undefined) {
        body.destroy();
        throw new Error("its answer is not authentic");
      }
      subscription.events = new RelayedEvents({
        body,
        key: Buffer.from(answer.key, "base64"),
        from: answer.token,
        clock,
        onDigests: (digests) => {
          subscription.expected = digests;
          this.#compare(poolId);
        },
        onClose: (reason) => {
          this.#onClose(poolId, subscription, reason);
        },
      });
      logger.debug(`${poolId}: events are received from server ${peer.name}`);
    } catch (error) {
      const { message } = error as Error;
      this.#onClose(
        poolId,
        subscription,
        message,
        error instanceof PeerRefusal,
      );
    }
  }

  #onClose(
    poolId: string,
    subscription: Subscription,
    reason: string,
    isRefused = false,
  ): void {
    // Closed by this server.
    if (this.#subscriptions.get(poolId) !== subscription) return;
    this.#subscriptions.delete(poolId);
    const { clock, logger } = this.#options;
    const last = this.#avoided.get(poolId)?.ms ?? RETRY_MS / 2;
    const ms = Math.min(2 * last, MAX_RETRY_MS);
    this.#avoided.set(poolId, { until: clock.now() + ms, ms });
    if (!isRefused) this.#counts.failed++;
    logger.debug(
      `${poolId}: events are requested from XAPI, not from server ${subscription.peer.name}: ${reason}`,
    );
  }
}
