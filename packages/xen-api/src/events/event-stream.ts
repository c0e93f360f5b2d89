import { type Logger, type MonotonicClock, pause } from "@xo-server/kit";
import { XoError, type RecordBatch } from "@xo-server/model";
import type { CallExecutor } from "../calls/call-executor.js";
import { eventFailure, isRewound, MAX_BAD_ANSWERS } from "./event-policy.js";
import { isSameCoordinator } from "./event-position.js";
import { isRewoundInject, type TokenOrigins } from "./event-token.js";
import type { EventPacing } from "./event-pacing.js";
import type { EventAnswer, EventRelay } from "./event-relay.js";
import type { Dialer } from "../http/dialer.js";
import { RewindCheck } from "./rewind-check.js";
import {
  afterFailedCall,
  backoffMs,
  type BackoffLimits,
} from "../rpc/retry-policy.js";
import type { Connected, XapiSession } from "../session/xapi-session.js";
import type { LostReason, XapiEvents } from "../xapi.js";

/** An answer that has begun is complete at once, as XAPI has it in memory. A poll that is repeated after a break costs nothing. */
const STALL_MS = 3_000;

interface EventStreamOptions {
  readonly executor: CallExecutor;
  readonly session: XapiSession;
  readonly origins: TokenOrigins;
  readonly injectToken: () => Promise<string>;
  /** Issuer of the tokens of the current session; see EventPosition. */
  readonly currentIssuer: () => Promise<string | undefined>;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly backoff: BackoffLimits;
  readonly logger: Logger;
  readonly label: string;
  readonly classes: readonly string[];
  readonly from: string;
  /** Issuer of `from`; see EventPosition. */
  readonly issuer: string | undefined;
  readonly throttleMs: number;
  readonly eventTimeoutMs: number;
  readonly eventGraceMs: number;
  readonly probeTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly pacing: EventPacing;
  readonly dialer: Pick<Dialer, "hasOtherWay">;
  readonly relay: EventRelay | undefined;
  readonly signal: AbortSignal | undefined;
  /** Called at the first `next()`. @returns a function that is called when the stream ends */
  readonly onStart: () => () => void;
  /** Called with every batch before the consumer gets the answer. */
  readonly onBatch: (batch: RecordBatch) => void;
  /** Called with every answer before the consumer gets it. */
  readonly onAnswer: () => void;
  /** Masks secrets in an error before it reaches the consumer. */
  readonly scrubError: (error: unknown) => Error;
}

interface PolledAnswer extends EventAnswer {
  /** Monotonic ms at which the answer began to arrive. */
  readonly startedAt: number;
  readonly generation: number;
}

/**
 * Timeout parameter of a poll while the member could be reached in another way, in ms: that packets are dropped is noticed
 * sooner. Not for pools whose answers take longer than QUICK_MS.
 */
const SHORT_WAIT_MS = 4_000;
const QUICK_MS = 500;

/** Maximum pause after a failed poll, in ms: the calls of the session still work, so the pool is not overloaded by a retry. */
const MAX_PAUSE_MS = 2_000;

/** Long-polls event.from and yields its answers; see Xapi.events. The blocked call holds one connection. */
export class EventStream {
  readonly #options: EventStreamOptions;
  #position: { token: string; validRefCounts?: ReadonlyMap<string, number> };
  #connected: Connected | undefined;
  readonly #rewindCheck: RewindCheck;
  #failures = 0;
  #badAnswers = 0;
  #lastFailure: Error | undefined;
  /** Monotonic ms of the last complete answer, at first of the start. */
  #answeredAt: number;
  /** Time from the request to its answer, without the time that XAPI waited for changes, in ms. */
  #latencyMs = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#position = { token: options.from };
    this.#answeredAt = options.clock.now();
    this.#rewindCheck = new RewindCheck(options);
  }

  async *items(): AsyncGenerator<XapiEvents, void, undefined> {
    const onEnd = this.#options.onStart();
    try {
      yield* this.#answers();
    } catch (error) {
      throw this.#options.scrubError(error);
    } finally {
      this.#options.relay?.onBreak();
      onEnd();
    }
  }

  async *#answers(): AsyncGenerator<XapiEvents, void, undefined> {
    const { throttleMs, pacing, signal } = this.#options;
    while (signal?.aborted !== true) {
      const relayed = await this.#nextRelayed();
      if (relayed !== undefined) {
        yield relayed;
        this.#options.relay?.onApplied(this.#position.token);
        continue;
      }
      const polling = this.#next();
      if (await this.#isSilent(polling)) yield this.#silence();
      const next = await polling;
      if (next === "ended") return;
      if (typeof next === "string") {
        yield { kind: "lost", reason: next };
        return;
      }
      const { batches, token, validRefCounts, startedAt } = next;
      this.#offer(next);
      this.#options.onAnswer();
      yield { kind: "changes", batches, token, validRefCounts };
      this.#options.relay?.onApplied(token);
      await pacing.untilNextPoll({ token, startedAt, throttleMs }, signal);
    }
  }

  /**
   * The next answer that another client has received. A caller that waits for its own
   * change gets it sooner from XAPI.
   * @returns undefined: events must be requested from XAPI
   */
  async #nextRelayed(): Promise<XapiEvents | undefined> {
    const { relay, issuer, classes, pacing, signal, clock } = this.#options;
    const { eventTimeoutMs, eventGraceMs } = this.#options;
    const { token } = this.#position;
    if (relay === undefined || issuer === undefined || pacing.isUrgent(token))
      return undefined;
    const answer = await relay.next({
      token,
      issuer,
      classes,
      waitMs: eventTimeoutMs + eventGraceMs,
      signals: signal ? [pacing.onUrgent, signal] : [pacing.onUrgent],
    });
    if (answer === undefined || this.#isAborted()) return undefined;
    this.#position = answer;
    this.#answeredAt = clock.now();
    for (const batch of answer.batches) this.#options.onBatch(batch);
    this.#options.onAnswer();
    return { kind: "changes", ...answer };
  }

  /** For other clients of the pool; without its issuer a token is of no use to them. */
  #offer(answer: EventAnswer): void {
    const { relay, issuer, classes } = this.#options;
    if (issuer !== undefined) relay?.onAnswer(answer, { issuer, classes });
  }

  /** Waits for the outcome of polls, but not longer than an answer of a working pool takes. */
  async #isSilent(polling: Promise<unknown>): Promise<boolean> {
    const { clock, session, eventTimeoutMs, eventGraceMs } = this.#options;
    const settled = new AbortController();
    const settle = () => {
      // Without a reason Node.js creates an error with its stack, for each poll.
      settled.abort("settled");
    };
    // #answers awaits the promise itself, with its error.
    polling.then(settle, settle);
    await pause(clock, eventTimeoutMs + eventGraceMs, settled.signal);
    if (settled.signal.aborted || this.#isAborted()) return false;
    // A lost session is reported by its state.
    return session.state.name === "connected";
  }

  #silence(): XapiEvents {
    const { clock, label } = this.#options;
    const forMs = clock.now() - this.#answeredAt;
    const reason = this.#lastFailure?.message ?? "no response to event.from";
    const seconds = Math.round(forMs / 1000);
    const error = this.#options.scrubError(
      new XoError("EVENTS_SILENT", { pool: label, seconds, reason }),
    );
    return { kind: "silent", forMs, error };
  }

  /** The next answer, after as many attempts as needed, or the reason why the stream ends. */
  async #next(): Promise<PolledAnswer | LostReason | "ended"> {
    const { session, signal } = this.#options;
    for (;;) {
      let connected: Connected;
      try {
        connected = await session.ready(signal);
      } catch (error) {
        // Disconnected or aborted: the stream ends without a `lost` item.
        if (error instanceof XoError && error.code === "NOT_CONNECTED")
          throw error;
        return "ended";
      }
      const changed = await this.#checkSession(connected);
      if (changed !== undefined) return changed;
      const outcome = await this.#poll(connected);
      if (outcome !== "again") return outcome;
      if (this.#isAborted()) return "ended";
    }
  }

  /** @returns why the stream is lost if our token may be invalid in the session */
  async #checkSession(connected: Connected): Promise<LostReason | undefined> {
    const { issuer, origins } = this.#options;
    const known = origins.generationOf(this.#position.token);
    // A token of an earlier process of this program comes with its issuer.
    const unknown = issuer === undefined ? connected.generation : undefined;
    const generation = this.#connected?.generation ?? known ?? unknown;
    const address = this.#connected?.address;
    this.#connected ??= connected;
    if (generation === connected.generation) return undefined;
    // A pool that fails now is listed when it answers again.
    const fresh = await this.#options.injectToken().catch(() => undefined);
    if (fresh !== undefined && isRewoundInject(fresh, this.#position.token))
      return "token-rewound";
    const changed = await this.#changedIssuer();
    if (fresh !== undefined && changed === "same") {
      this.#connected = connected;
      return undefined;
    }
    const isSameHost =
      address === undefined || address.host === connected.address.host;
    if (!isSameHost) return "new-coordinator";
    return changed === "same" ? "new-session" : changed;
  }

  /** Compares the process of XAPI that issues tokens now with that of our token. */
  async #changedIssuer(): Promise<"same" | LostReason> {
    const { issuer, currentIssuer } = this.#options;
    if (issuer === undefined) return "new-session";
    // Not known: the pool is listed.
    const current = await currentIssuer().catch(() => undefined);
    if (current === undefined) return "new-session";
    if (current === issuer) return "same";
    return isSameCoordinator(current, issuer)
      ? "xapi-restarted"
      : "new-coordinator";
  }

  async #poll(
    connected: Connected,
  ): Promise<PolledAnswer | LostReason | "again" | "ended"> {
    let poll: PolledAnswer;
    try {
      poll = await this.#request();
    } catch (error) {
      return this.#afterFailure(connected, error as Error);
    }
    // A login happened during the call: #checkSession decides about the token.
    if (poll.generation !== connected.generation) return "again";
    this.#failures = 0;
    this.#badAnswers = 0;
    this.#lastFailure = undefined;
    this.#answeredAt = this.#options.clock.now();
    for (const batch of poll.batches) this.#options.onBatch(batch);
    const isEmpty = poll.batches.length === 0;
    this.#rewindCheck.onAnswer(this.#position.token, poll.token);
    if (
      this.#rewindCheck.isRewound ||
      isRewound(this.#position, poll, isEmpty, this.#options.classes)
    ) {
      this.#options.logger.warn(
        `${this.#options.label}: the pool database was restored to an earlier state`,
      );
      return "token-rewound";
    }
    this.#position = poll;
    this.#options.origins.record(poll.token, connected.generation);
    return poll;
  }

  async #request(): Promise<PolledAnswer> {
    const { executor, classes, eventGraceMs, clock, signal } = this.#options;
    const { probeTimeoutMs, callTimeoutMs } = this.#options;
    const batches: RecordBatch[] = [];
    const sentAt = clock.now();
    let startedAt = sentAt;
    // After a failure do not block: an immediate answer shows the consumer that the pool is reachable again.
    const isCheck = this.#failures > 0;
    const timeoutMs = this.#timeoutMs;
    const waitMs = isCheck ? 0 : this.#waitMs(timeoutMs);
    const { answer, connected } = await executor.request({
      method: "event.from",
      params: [classes, this.#position.token, waitMs / 1000],
      shape: "events",
      priority: "event",
      timeoutMs: callTimeoutMs,
      startTimeoutMs: isCheck ? probeTimeoutMs : timeoutMs + eventGraceMs,
      stallTimeoutMs: Math.min(probeTimeoutMs, STALL_MS),
      // A retry in another session would skip events; #checkSession must run first.
      isRetried: false,
      isBlocking: true,
      signal,
      onAnswerStart: () => {
        startedAt = clock.now();
      },
      onBatch: (batch) => {
        batches.push(batch);
      },
    });
    this.#recordLatency(startedAt - sentAt, waitMs, batches.length === 0);
    const { token = this.#position.token, validRefCounts = new Map() } = answer;
    const { generation } = connected;
    return { batches, token, validRefCounts, startedAt, generation };
  }

  /** Timeout parameter of a poll. A pool that answers slowly gets shorter polls, so that its answers still begin within the time limit. */
  #waitMs(timeoutMs: number): number {
    const mostMs = timeoutMs + this.#options.eventGraceMs - 2 * this.#latencyMs;
    return Math.max(0, Math.min(timeoutMs, mostMs));
  }

  get #timeoutMs(): number {
    const { eventTimeoutMs, dialer } = this.#options;
    return dialer.hasOtherWay && this.#latencyMs <= QUICK_MS
      ? Math.min(eventTimeoutMs, SHORT_WAIT_MS)
      : eventTimeoutMs;
  }

  #recordLatency(tookMs: number, waitMs: number, isIdle: boolean): void {
    const latencyMs = isIdle ? tookMs - waitMs : tookMs;
    // An answer with changes may have waited for them: it only shows an upper bound.
    if (isIdle || waitMs === 0 || latencyMs < this.#latencyMs)
      this.#latencyMs = Math.max(0, latencyMs);
  }

  async #afterFailure(
    connected: Connected,
    error: Error,
  ): Promise<LostReason | "again" | "ended"> {
    if (this.#isAborted()) return "ended";
    const { session, clock, signal, logger, label } = this.#options;
    this.#options.relay?.onBreak();
    const kind = eventFailure(error);
    if (kind === "lost") return "events-lost";
    if (kind === "rewound") return "token-rewound";
    this.#lastFailure = error;
    logger.debug(`${label}: event.from: ${error.message}`);
    if (kind === "bad-answer" && ++this.#badAnswers >= MAX_BAD_ANSWERS) {
      logger.warn(
        `${label}: event.from: ${this.#badAnswers} invalid responses in sequence: ${error.message}`,
      );
      return "events-lost";
    }
    if (kind === "dead") await session.probe(connected, error);
    if (kind === "call") {
      // The call executor has updated the session; errors that no retry can cure go to the consumer.
      const { action } = afterFailedCall(error, 0, true);
      if (action === "give-up" && !isClosed(error)) throw error;
    }
    if (session.state.name === "stopped") return "ended";
    const { backoff, random } = this.#options;
    if (kind !== "call" || this.#failures > 0)
      await pause(
        clock,
        Math.min(
          MAX_PAUSE_MS,
          backoffMs(error, this.#failures, backoff, random()),
        ),
        signal,
      );
    this.#failures++;
    return "again";
  }

  #isAborted(): boolean {
    return this.#options.signal?.aborted === true;
  }
}

function isClosed(error: Error): boolean {
  return error instanceof XoError && error.code === "CLOSED";
}
