import type { RecordBatch } from "@xo-server/model";

/** An answer of event.from. */
export interface EventAnswer {
  readonly batches: readonly RecordBatch[];
  /** All changes up to this token have been delivered. */
  readonly token: string;
  readonly validRefCounts: ReadonlyMap<string, number>;
}

/** What the stream of a client follows. */
export interface FollowedEvents {
  /** See EventPosition. */
  readonly issuer: string;
  /** Class filters of event.from. */
  readonly classes: readonly string[];
}

export interface RelayRequest extends FollowedEvents {
  /** The answer contains all changes after this token. */
  readonly token: string;
  /** Time after which events are requested from XAPI, in ms. */
  readonly waitMs: number;
  /** Events are requested from XAPI when one of them is aborted. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Passes answers of event.from between clients of one pool, so that only one of them
 * sends event.from. Tokens are those of XAPI: a client can continue at XAPI at any time.
 */
export interface EventRelay {
  /**
   * The next answer that another client has received.
   * @returns undefined: events must be requested from XAPI. Never rejects
   */
  next(request: RelayRequest): Promise<EventAnswer | undefined>;
  /** An answer of XAPI to this client. The records may be read only before it returns. */
  onAnswer(answer: EventAnswer, followed: FollowedEvents): void;
  /** The consumer has applied all changes up to the token, and no later ones. */
  onApplied(token: string): void;
  /** event.from has failed, or the stream has ended: the next answer may come late, and begin at any position. */
  onBreak(): void;
}
