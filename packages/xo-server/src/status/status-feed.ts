import { createMergePatch } from "@xo-server/kit";
import type { Clock } from "../clock.js";
import type { Status } from "./status.js";

/** Somebody who follows the status. */
export interface StatusSubscriber {
  /** False: too much is still waiting to go out, nothing was sent. */
  trySend(message: Buffer): boolean;
}

export interface StatusFeed {
  /** The status of now; patches from its revision on follow until unsubscribe. */
  subscribe(subscriber: StatusSubscriber): { revision: number; status: Status };
  /** False: was not subscribed. */
  unsubscribe(subscriber: StatusSubscriber): boolean;
  stop(): void;
}

export interface StatusFeedOptions {
  readonly read: () => Status;
  readonly clock: Clock;
  /** Least time between two notifications. */
  readonly intervalMs?: number;
}

/**
 * The status as revisions: every interval it is read once, compared with the
 * revision before, and the patch is encoded once for all. Who was skipped gets
 * a snapshot when there is room again; nothing is kept for anybody. Nobody
 * there: nothing is read.
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

  /** To the status of now; the notification that leads there, undefined when nothing changed. */
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
      // The others hold the current revision, so it may not move without a word to them.
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
