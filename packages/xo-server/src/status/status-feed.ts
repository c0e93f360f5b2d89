import { createMergePatch, type WallClock } from "@xo-server/kit";
import type { Status } from "./status.js";

/** A client that receives notifications. */
export interface StatusSubscriber {
  /** @returns false: the send buffer is full, nothing was sent */
  trySend(message: Buffer): boolean;
}

export interface StatusFeed {
  /**
   * @returns the current status; patches from its revision on follow until
   *   unsubscribe
   */
  subscribe(subscriber: StatusSubscriber): { revision: number; status: Status };
  /** @returns false: was not subscribed */
  unsubscribe(subscriber: StatusSubscriber): boolean;
  stop(): void;
}

export interface StatusFeedOptions {
  readonly read: () => Status;
  readonly clock: WallClock;
  /** Minimum interval of notifications. */
  readonly intervalMs?: number;
}

/**
 * The status as revisions: computed once per interval, compared with the
 * previous revision, and the patch encoded once for all subscribers. A
 * subscriber that missed a revision gets a snapshot when its buffer has room;
 * nothing is queued. Without subscribers nothing is computed.
 */
export function createStatusFeed({
  read,
  clock,
  intervalMs = 250,
}: StatusFeedOptions): StatusFeed {
  /** Whether each subscriber has missed a revision. */
  const behind = new Map<StatusSubscriber, boolean>();
  let revision = 0;
  let current: Status | undefined;
  let timer: unknown;

  function tick(): void {
    timer = clock.setTimeout(tick, intervalMs);
    const patch = advance();
    let snapshot: Buffer | undefined;
    for (const [subscriber, isBehind] of behind) {
      if (isBehind) {
        snapshot ??= encode({ revision, status: current! });
        behind.set(subscriber, !subscriber.trySend(snapshot));
      } else if (patch !== undefined) {
        behind.set(subscriber, !subscriber.trySend(patch));
      }
    }
  }

  /**
   * Advances to the current status.
   * @returns the notification for subscribers of the previous revision;
   *   undefined: unchanged
   */
  function advance(): Buffer | undefined {
    const next = read();
    const patch =
      current === undefined ? undefined : createMergePatch(current, next);
    if (current !== undefined && patch === undefined) return undefined;
    current = next;
    const base = revision++;
    return patch === undefined ? undefined : encode({ revision, base, patch });
  }

  return {
    subscribe(subscriber) {
      // Other subscribers have the current revision, so it only advances
      // together with a notification to them.
      if (behind.size === 0) {
        advance();
        timer ??= clock.setTimeout(tick, intervalMs);
      }
      behind.set(subscriber, false);
      return { revision, status: current! };
    },
    unsubscribe(subscriber) {
      const was = behind.delete(subscriber);
      if (behind.size === 0) stop();
      return was;
    },
    stop() {
      behind.clear();
      stop();
    },
  };

  function stop(): void {
    clock.clearTimeout(timer);
    timer = undefined;
  }
}

function encode(params: object): Buffer {
  return Buffer.from(
    JSON.stringify({ jsonrpc: "2.0", method: "status", params }),
  );
}
