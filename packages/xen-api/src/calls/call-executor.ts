import type { MonotonicClock } from "@xo-server/kit";
import {
  datamodel,
  XoError,
  type AnswerShape,
  type DecodedAnswer,
  type DecodePriority,
  type RecordBatch,
} from "@xo-server/model";
import { answerLimitMs } from "./answer-limits.js";
import type { CallQueue } from "./call-queue.js";
import { addressName, type Address } from "../http/address.js";
import type { Dialer } from "../http/dialer.js";
import { createDeadline } from "../rpc/deadline.js";
import { resultTypeOf, toDeclaredType } from "./declared-type.js";
import { awaitSession } from "../session/await-session.js";
import { toXapiError } from "../session/login.js";
import { isReadingMethod } from "./method-policy.js";
import { afterFailedCall, type CallDecision } from "../rpc/retry-policy.js";
import type { Rpc, RpcAnswer, RpcRequest } from "../rpc/rpc.js";
import type { Connected, XapiSession } from "../session/xapi-session.js";
import type { Transport } from "../transports/transport.js";

/** Time without the beginning of a response after which the way to the member is checked, in ms. */
const CHECK_MS = 2_000;
/** A response that makes no progress for this time, in ms, counts as lost. */
const STALL_MS = 30_000;

interface CallRequest {
  readonly method: string;
  /** Without the session, which is added. */
  readonly params: readonly unknown[];
  readonly shape?: AnswerShape;
  readonly className?: string;
  readonly priority: DecodePriority;
  /** See DecodeRequest. */
  readonly isKept?: boolean | undefined;
  readonly timeoutMs: number;
  /** See RpcRequest. Default: answerLimitMs. */
  readonly startTimeoutMs?: number | undefined;
  /** See RpcRequest. Default: STALL_MS. */
  readonly stallTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly onAnswerStart?: (() => void) | undefined;
  readonly onBatch?: ((batch: RecordBatch) => void) | undefined;
  readonly idempotent?: boolean | undefined;
  /** See SendOptions. */
  readonly beforeSend?: ((session: string) => void) | undefined;
  /** See AsyncCallOptions; may be called several times. */
  readonly onUnanswered?: ((via: string) => void) | undefined;
  /** See RpcRequest. */
  readonly headers?: Readonly<Record<string, string>>;
  /** False: a failure is reported to the session, but the call is not retried. Default true. */
  readonly isRetried?: boolean;
  /** Waits for a session until its time limit, also while the pool cannot be reached. Default: unless its priority is "call". */
  readonly isPatient?: boolean | undefined;
  /** Overrides the transport of the session. */
  readonly transport?: Transport | undefined;
  /** A blocking call such as event.from: bypasses the queue. */
  readonly isBlocking?: boolean;
}

type Success = Extract<DecodedAnswer, { outcome: "success" }>;

interface CallResult {
  readonly answer: Success;
  readonly bytes: number;
  readonly connected: Connected;
}

interface CallExecutorOptions {
  readonly session: XapiSession;
  readonly rpc: Rpc;
  readonly queue: CallQueue;
  readonly clock: MonotonicClock;
  /** Of the pool, for errors. */
  readonly label: string;
  /**
   * Time without the beginning of a response after which it is checked whether the
   * coordinator answers at all, in ms.
   */
  readonly patienceMs: number;
  /** Time after which a call is given up while there is no session, in ms. */
  readonly unreachableMs: number;
  /** Aborted when the client is disconnected: nothing is sent from then on. */
  readonly closing: AbortSignal;
  /** Finds out whether packets to and from a member are dropped, if there is another way to it. */
  readonly dialer: Pick<Dialer, "check" | "hasOtherWay" | "viaOf">;
}

/**
 * Executes calls with the session: waits for a session, queues, and retries calls
 * that may be retried.
 */
export class CallExecutor {
  readonly #options: CallExecutorOptions;
  bytesReceived = 0;
  calls = 0;
  failedCalls = 0;

  constructor(options: CallExecutorOptions) {
    this.#options = options;
  }

  /** The value that a method returns, converted to the type in the data model. @throws XapiError, XoError */
  async value(request: CallRequest): Promise<unknown> {
    const { answer } = await this.request(request);
    return answer.encoding === "json-rpc"
      ? answer.value
      : toDeclaredType(answer.value, resultTypeOf(request.method));
  }

  /** @throws XapiError, XoError */
  async request(request: CallRequest): Promise<CallResult> {
    const { method, timeoutMs, signal } = request;
    const deadline = createDeadline(
      this.#options.clock,
      method,
      timeoutMs,
      signal,
    );
    this.calls++;
    try {
      return await this.#runWithRetries(request, deadline.signal);
    } catch (error) {
      this.failedCalls++;
      throw error;
    } finally {
      deadline.release();
    }
  }

  async #runWithRetries(
    request: CallRequest,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const isIdempotent = request.idempotent ?? isReadingMethod(request.method);
    let hasDelivered = false;
    const onBatch = (batch: RecordBatch) => {
      hasDelivered = true;
      request.onBatch?.(batch);
    };
    for (let attempt = 0; ; attempt++) {
      const connected = await this.#awaitSession(request, signal);
      try {
        return await this.#attempt(
          { ...request, onBatch, signal },
          connected,
          isIdempotent,
        );
      } catch (error) {
        // Batches that were passed to the caller cannot be revoked, so the call must not run again.
        const isSafe = isIdempotent && !hasDelivered && !signal.aborted;
        const decision = afterFailedCall(error, attempt, isSafe);
        await applyDecision(
          this.#options.session,
          connected,
          decision,
          error as Error,
        );
        if (decision.action === "give-up" || !decision.retry) throw error;
        if (hasDelivered || request.isRetried === false) throw error;
        signal.throwIfAborted();
      }
    }
  }

  #awaitSession(
    { method, timeoutMs, priority, isPatient }: CallRequest,
    signal: AbortSignal,
  ): Promise<Connected> {
    return awaitSession(this.#options, {
      method,
      timeoutMs,
      signal,
      isPatient: isPatient ?? priority !== "call",
    });
  }

  async #attempt(
    request: CallRequest,
    connected: Connected,
    isSafe: boolean,
  ): Promise<CallResult> {
    const { method, params } = request;
    const {
      priority,
      isKept,
      signal,
      className,
      onAnswerStart,
      onBatch,
      startTimeoutMs = answerLimitMs(method, params),
      stallTimeoutMs = STALL_MS,
      beforeSend,
      onUnanswered,
      headers,
    } = request;
    const { address, encoding, session } = connected;
    const transport = request.transport ?? connected.transport;
    const sent: RpcRequest = {
      address,
      transport,
      method,
      className,
      priority,
      isKept,
      signal,
      startTimeoutMs,
      stallTimeoutMs,
      onAnswerStart,
      onBatch,
      beforeSend: () => {
        this.#options.closing.throwIfAborted();
        beforeSend?.(session);
      },
      headers,
      isIdempotent: isSafe,
      encoding: request.transport === undefined ? encoding : undefined,
      params: isSessionless(method) ? params : [session, ...params],
      shape: request.shape ?? "value",
    };
    const { answer, bytes } =
      request.isBlocking === true
        ? await this.#options.rpc.send(sent)
        : await this.#options.queue.run(priority, signal, (leave) =>
            this.#sendWatched(sent, connected, (via) => {
              leave();
              onUnanswered?.(via);
            }),
          );
    this.bytesReceived += bytes;
    if (answer.outcome === "failure") throw toXapiError(answer.error, method);
    return { answer, bytes, connected };
  }

  /**
   * While the answer is overdue, it is checked whether the coordinator answers at all. A call that acts
   * is given up when it has not done so for long enough: its connection may stay silent for a quarter of an hour.
   * @param onOtherWay called now and then while the member is reached in another way
   */
  async #sendWatched(
    request: RpcRequest,
    connected: Connected,
    onOtherWay: (via: string) => void,
  ): Promise<RpcAnswer> {
    const { clock, rpc, session } = this.#options;
    const { patienceMs: ms } = this.#options;
    const { method, onAnswerStart } = request;
    const probing = clock.setTimeout(() => {
      const error = new XoError("CALL_TIMEOUT", { method, ms });
      void session.probe(connected, error);
    }, ms);
    const stopChecking = this.#checkMember(connected.address, onOtherWay);
    const { signal, stop: stopWaiting } = this.#whileReachable(
      request,
      connected.address,
    );
    const stop = () => {
      clock.clearTimeout(probing);
      stopChecking();
      stopWaiting();
    };
    try {
      return await rpc.send({
        ...request,
        signal,
        onAnswerStart() {
          stop();
          onAnswerStart?.();
        },
      });
    } finally {
      stop();
    }
  }

  /** @returns a signal that is also aborted, with UNREACHABLE, when the call is given up, and a function that ends that */
  #whileReachable(
    { signal, isIdempotent }: RpcRequest,
    address: Address,
  ): { readonly signal: AbortSignal | undefined; readonly stop: () => void } {
    if (isIdempotent === true) return { signal, stop: () => undefined };
    const { clock, session, unreachableMs: ms } = this.#options;
    const lost = new AbortController();
    const check = () => {
      if (session.current !== undefined)
        timer = clock.setTimeout(check, CHECK_MS);
      else
        lost.abort(
          new XoError("UNREACHABLE", {
            address: addressName(address),
            reason: `it has not answered for ${ms} ms (unreachableMs)`,
          }),
        );
    };
    let timer = clock.setTimeout(check, ms);
    return {
      signal:
        signal === undefined
          ? lost.signal
          : AbortSignal.any([signal, lost.signal]),
      stop() {
        clock.clearTimeout(timer);
      },
    };
  }

  /**
   * Finds out whether packets are dropped while an answer is overdue. If so, the call leaves its place to others: XAPI is
   * not working on it, and an action may wait for its answer for a minute. Most clients have no other way: they need no second timer for each call.
   * @returns a function that ends the checks
   */
  #checkMember(
    address: Address,
    onOtherWay: (via: string) => void,
  ): () => void {
    const { clock, dialer } = this.#options;
    if (!dialer.hasOtherWay) return () => undefined;
    const check = () => {
      const via = dialer.viaOf(address);
      if (via === undefined) dialer.check(address);
      else onOtherWay(via);
      timer = clock.setTimeout(check, CHECK_MS);
    };
    let timer = clock.setTimeout(check, CHECK_MS);
    return () => {
      clock.clearTimeout(timer);
    };
  }
}

/** Applies what a failed call reveals about the session. */
async function applyDecision(
  session: XapiSession,
  connected: Connected,
  decision: CallDecision,
  error: Error,
): Promise<void> {
  switch (decision.action) {
    case "renew":
      session.renew(connected);
      return;
    case "follow":
      session.follow(connected, decision.address);
      return;
    case "back-off":
      session.backOff(connected, error);
      return;
    case "probe":
      if (decision.retry) await session.probe(connected, error);
      else void session.probe(connected, error);
      return;
    case "give-up":
      return;
  }
}

/** @throws XoError READ_ONLY unless the method only reads */
export function checkReadOnly(method: string): void {
  if (!isReadingMethod(method.replace(/^Async\./, "")))
    throw new XoError("READ_ONLY", { method });
}

function isSessionless(method: string): boolean {
  if (method.startsWith("system.")) return true;
  const [className = "", message = ""] = method.split(".");
  const messages = datamodel.classes[className]?.messages;
  return (
    messages !== undefined &&
    Object.hasOwn(messages, message) &&
    messages[message]!.sessionless === true
  );
}
