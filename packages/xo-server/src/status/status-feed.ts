import type { WallClock } from "@xo-server/kit";
import type { Status, VisibleStatus } from "./status.js";
import { StatusStream } from "./status-stream.js";
import { everything, type Audience } from "./visible-status.js";

/** A client that receives notifications. */
export interface StatusSubscriber {
  /** @returns false: the send buffer is full, nothing was sent */
  trySend(message: Buffer): boolean;
}

export interface StatusFeed<S extends StatusSubscriber = StatusSubscriber> {
  /**
   * @returns the current status as the subscriber may read it; patches from
   *   its revision on follow until unsubscribe
   */
  subscribe(subscriber: S): { revision: number; status: VisibleStatus };
  /** @returns false: was not subscribed */
  unsubscribe(subscriber: S): boolean;
  stop(): void;
}

interface StatusFeedOptions<S> {
  readonly read: () => Status;
  readonly clock: WallClock;
  /** What a subscriber may read now. Default: everything. */
  readonly audienceOf?: (subscriber: S, status: Status) => Audience;
  /** Minimum interval of notifications. */
  readonly intervalMs?: number;
}

interface Subscription {
  audience: string;
  /** A revision was missed, so a snapshot follows. */
  isBehind: boolean;
}

/**
 * The status as revisions: computed once per interval, compared with the
 * previous revision, and the patch encoded once for all subscribers of an
 * audience. A subscriber that missed a revision, or whose rights have changed,
 * gets a snapshot when its buffer has room; nothing is queued. Without
 * subscribers nothing is computed.
 */
export function createStatusFeed<S extends StatusSubscriber>({
  read,
  clock,
  audienceOf = () => everything,
  intervalMs = 250,
}: StatusFeedOptions<S>): StatusFeed<S> {
  const subscriptions = new Map<S, Subscription>();
  let streams = new Map<string, StatusStream>();
  let revision = 0;
  const nextRevision = () => ++revision;
  let timer: unknown;

  function tick(): void {
    timer = clock.setTimeout(tick, intervalMs);
    const full = read();
    const used = new Map<string, StatusStream>();
    for (const [subscriber, subscription] of subscriptions) {
      const audience = audienceOf(subscriber, full);
      const { key } = audience;
      const stream = used.get(key) ?? advance(audience, full);
      used.set(key, stream);
      if (subscription.audience !== key) subscription.isBehind = true;
      subscription.audience = key;
      const message = subscription.isBehind ? stream.snapshot() : stream.patch;
      if (message !== undefined)
        subscription.isBehind = !subscriber.trySend(message);
    }
    streams = used;
  }

  /** The stream of an audience, advanced to the current status. */
  function advance(audience: Audience, full: Status): StatusStream {
    const stream = streams.get(audience.key);
    return (
      stream?.advance(full) ?? new StatusStream(audience, full, nextRevision)
    );
  }

  return {
    subscribe(subscriber) {
      timer ??= clock.setTimeout(tick, intervalMs);
      const full = read();
      const audience = audienceOf(subscriber, full);
      // Other subscribers have the current revision, so it only advances
      // together with a notification to them.
      const stream = streams.get(audience.key) ?? advance(audience, full);
      streams.set(audience.key, stream);
      subscriptions.set(subscriber, {
        audience: audience.key,
        isBehind: false,
      });
      return { revision: stream.revision, status: stream.status };
    },
    unsubscribe(subscriber) {
      const was = subscriptions.delete(subscriber);
      if (subscriptions.size === 0) stop();
      return was;
    },
    stop() {
      subscriptions.clear();
      stop();
    },
  };

  function stop(): void {
    clock.clearTimeout(timer);
    timer = undefined;
    streams = new Map();
  }
}
