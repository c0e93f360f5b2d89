import {
  datamodel,
  XoError,
  type AnswerShape,
  type DecodedAnswer,
  type DecodePriority,
  type RecordBatch,
} from "@xo-server/model";
import type { CallQueue } from "./call-queue.js";
import type { Clock } from "./clock.js";
import { createDeadline } from "./deadline.js";
import { resultTypeOf, toDeclaredType } from "./declared-type.js";
import { toXapiError } from "./login.js";
import { isReadingMethod } from "./method-policy.js";
import { afterFailedCall, type CallDecision } from "./retry-policy.js";
import type { Rpc } from "./rpc.js";
import type { Connected, Session } from "./session.js";
import type { Transport } from "./transports/transport.js";

export interface CallRequest {
  readonly method: string;
  /** Without the session. */
  readonly params: readonly unknown[];
  readonly shape?: AnswerShape;
  readonly className?: string;
  readonly priority: DecodePriority;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onAnswerStart?: (() => void) | undefined;
  readonly onBatch?: ((batch: RecordBatch) => void) | undefined;
  readonly idempotent?: boolean | undefined;
  /** False: the session is told of a failure, but the call is never made again. Default true. */
  readonly isRetried?: boolean;
  /** In place of the session's. */
  readonly transport?: Transport | undefined;
  /** Blocks for long by its nature: takes no turn. */
  readonly isBlocking?: boolean;
}

export type Success = Extract<DecodedAnswer, { outcome: "success" }>;

export interface CallResult {
  readonly answer: Success;
  readonly bytes: number;
  readonly connected: Connected;
}

export interface CallExecutorOptions {
  readonly session: Session;
  readonly rpc: Rpc;
  readonly queue: CallQueue;
  readonly clock: Clock;
}

/** Makes calls with the session: waits for it, takes turns, repeats what may be repeated. */
export class CallExecutor {
  readonly #options: CallExecutorOptions;
  bytesReceived = 0;
  calls = 0;
  failedCalls = 0;

  constructor(options: CallExecutorOptions) {
    this.#options = options;
  }

  /** The value of a call, typed by the data model. @throws XapiError, XoError */
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
      const connected = await this.#options.session.ready(signal);
      try {
        return await this.#attempt(
          { ...request, onBatch, signal },
          connected,
          isIdempotent,
        );
      } catch (error) {
        // What has been handed over cannot be taken back.
        const isSafe = isIdempotent && !hasDelivered;
        const decision = afterFailedCall(error, attempt, isSafe);
        await applyDecision(
          this.#options.session,
          connected,
          decision,
          error as Error,
        );
        if (decision.action === "give-up" || !decision.repeat) throw error;
        if (hasDelivered || request.isRetried === false) throw error;
        signal.throwIfAborted();
      }
    }
  }

  async #attempt(
    request: CallRequest,
    connected: Connected,
    isSafe: boolean,
  ): Promise<CallResult> {
    const {
      method,
      params,
      priority,
      signal,
      className,
      onAnswerStart: onBegin,
      onBatch,
    } = request;
    const { address, encoding, session } = connected;
    const transport = request.transport ?? connected.transport;
    const send = () =>
      this.#options.rpc.send({
        address,
        transport,
        method,
        className,
        priority,
        signal,
        onAnswerStart: onBegin,
        onBatch,
        isIdempotent: isSafe,
        encoding: request.transport === undefined ? encoding : undefined,
        params: isSessionless(method) ? params : [session, ...params],
        shape: request.shape ?? "value",
      });
    const { answer, bytes } =
      request.isBlocking === true
        ? await send()
        : await this.#options.queue.run(priority, signal, send);
    this.bytesReceived += bytes;
    if (answer.outcome === "failure") throw toXapiError(answer.error, method);
    return { answer, bytes, connected };
  }
}

/** Tells the session what a failed call has taught about it. */
export async function applyDecision(
  session: Session,
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
      if (decision.repeat) await session.probe(connected, error);
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
