import { wallClock, type WallClock } from "@xo-server/kit";
import { Semaphore, type Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type {
  Agility,
  BalancePlan,
  BalancePolicy,
  Change,
  FailoverPlan,
  VmPlacement as Placed,
  Plan,
  PlanOptions,
  PoolModel,
  RollingPlan,
  RollingRequest,
  StartOptions,
  Survival,
  SurvivalOptions,
  WhatIf,
  WhatIfOptions,
} from "@xo-server/placement";
import {
  SlicedSerializer,
  SlicedDeserializer,
  type SerializedValue,
} from "./sliced-serialization.js";
import { PlannerThread } from "./planner-thread.js";
import type {
  PlannerResponse,
  PlannerFunctions,
  PlannerRequest,
} from "./planner-worker.js";

interface PlannerOptions {
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly clock?: WallClock;
  /** Maximum duration of one request. */
  readonly timeLimitMs?: number;
  /** Module of the thread; tests replace it. */
  readonly file?: URL;
}

/** Options of one request. */
interface PlanCall {
  /** Cancels the request. */
  readonly signal?: AbortSignal;
}

/** Maximum number of queued requests: each holds a model in memory. */
const MAX_WAITING = 16;
const TIME_LIMIT_MS = 60_000;

/**
 * Runs the functions of the placement package in a worker thread, one at a
 * time, in order of request. All methods throw XoError: INVALID_PARAMETERS (the
 * request has ids that the model does not have), QUEUE_FULL, ABORTED,
 * CALL_TIMEOUT, INTERNAL (the thread failed).
 */
export class Planner {
  readonly #inventory: Pick<Inventory, "runInSlices">;
  readonly #clock: WallClock;
  readonly #timeLimitMs: number;
  readonly #thread: PlannerThread;
  readonly #turns = new Semaphore(1);
  /** Numbers of models: a model that the thread has is not sent again. */
  readonly #models = new WeakMap<PoolModel, number>();
  #lastModel = 0;
  #waiting = 0;

  constructor({
    inventory,
    clock = wallClock,
    timeLimitMs = TIME_LIMIT_MS,
    file = new URL("./planner-worker.js", import.meta.url),
  }: PlannerOptions) {
    this.#inventory = inventory;
    this.#clock = clock;
    this.#timeLimitMs = timeLimitMs;
    this.#thread = new PlannerThread(clock, file);
  }

  /** Whether the thread is running. */
  get isUp(): boolean {
    return this.#thread.isUp;
  }

  starts(model: PoolModel, options: StartOptions = {}, call?: PlanCall) {
    return this.#request<Plan>("starts", { model, args: [options], call });
  }

  place(
    model: PoolModel,
    vm: string,
    options: PlanOptions = {},
    call?: PlanCall,
  ) {
    return this.#request<Placed>("place", { model, args: [vm, options], call });
  }

  explain(
    model: PoolModel,
    plan: Plan,
    index: number,
    options: PlanOptions & PlanCall = {},
  ) {
    const { signal, ...rest } = options;
    const call = signal && { signal };
    const args = [plan, index, rest];
    return this.#request<Placed>("explain", { model, args, call });
  }

  evacuation(
    model: PoolModel,
    hosts: readonly string[],
    options: PlanOptions = {},
    call?: PlanCall,
  ) {
    const args = [hosts, options];
    return this.#request<Plan>("evacuation", { model, args, call });
  }

  failover(
    model: PoolModel,
    hosts: readonly string[],
    options: PlanOptions = {},
    call?: PlanCall,
  ) {
    const args = [hosts, options];
    return this.#request<FailoverPlan>("failover", { model, args, call });
  }

  survival(model: PoolModel, options: SurvivalOptions = {}, call?: PlanCall) {
    return this.#request<Survival>("survival", {
      model,
      args: [options],
      call,
    });
  }

  balance(model: PoolModel, policy: BalancePolicy, call?: PlanCall) {
    return this.#request<BalancePlan>("balance", {
      model,
      args: [policy],
      call,
    });
  }

  rolling(
    model: PoolModel,
    request: RollingRequest,
    options: PlanOptions = {},
    call?: PlanCall,
  ) {
    const args = [request, options];
    return this.#request<RollingPlan>("rolling", { model, args, call });
  }

  repair(model: PoolModel, options: PlanOptions = {}, call?: PlanCall) {
    return this.#request<Plan>("repair", { model, args: [options], call });
  }

  whatIf(
    model: PoolModel,
    changes: readonly Change[],
    options: WhatIfOptions = {},
    call?: PlanCall,
  ) {
    const args = [changes, options];
    return this.#request<WhatIf>("whatIf", { model, args, call });
  }

  agility(model: PoolModel, vm: string, call?: PlanCall) {
    return this.#request<Agility>("agility", { model, args: [vm], call });
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }

  async #request<T>(
    name: keyof PlannerFunctions,
    request: RequestParts,
  ): Promise<T> {
    if (this.#waiting >= MAX_WAITING)
      throw new XoError("QUEUE_FULL", {
        what: "the planner",
        size: this.#waiting,
      });
    this.#waiting++;
    const { signal } = request.call ?? {};
    const turn = this.#turns.run(() => this.#answer(name, request));
    const ended = turn.finally(() => this.#waiting--);
    const answer = await unlessAborted(ended, signal);
    return (await this.#unpack(answer)) as T;
  }

  async #answer(
    name: keyof PlannerFunctions,
    request: RequestParts,
  ): Promise<SerializedValue> {
    const { model, call, args } = request;
    if (call?.signal?.aborted === true) throw aborted();
    const limit = new AbortController();
    const timer = this.#clock.setTimeout(() => {
      const ms = this.#timeLimitMs;
      limit.abort(new XoError("CALL_TIMEOUT", { method: "the planner", ms }));
    }, this.#timeLimitMs);
    const stop = () => {
      limit.abort(aborted());
    };
    call?.signal?.addEventListener("abort", stop);
    try {
      const question = await this.#toQuestion(name, model, args);
      return toResult(await this.#thread.request(question, limit.signal));
    } finally {
      this.#clock.clearTimeout(timer);
      call?.signal?.removeEventListener("abort", stop);
    }
  }

  async #toQuestion(
    name: keyof PlannerFunctions,
    model: PoolModel,
    args: readonly unknown[],
  ): Promise<PlannerRequest> {
    const number = this.#models.get(model) ?? ++this.#lastModel;
    this.#models.set(model, number);
    const packedArgs = await this.#pack({ ...args });
    const question = { name, model: number, args: packedArgs };
    return this.#thread.has(number)
      ? question
      : { ...question, packedModel: await this.#pack(model) };
  }

  async #pack(value: unknown): Promise<SerializedValue> {
    const packing = new SlicedSerializer(value);
    await this.#inventory.runInSlices("placement", packing.steps());
    return packing.result;
  }

  async #unpack(packed: SerializedValue): Promise<unknown> {
    const unpacking = new SlicedDeserializer(packed);
    await this.#inventory.runInSlices("placement", unpacking.steps());
    return unpacking.value;
  }
}

interface RequestParts {
  readonly model: PoolModel;
  readonly args: readonly unknown[];
  readonly call: PlanCall | undefined;
}

function toResult(answer: PlannerResponse): SerializedValue {
  if ("packed" in answer) return answer.packed;
  const { reason, isInvalid } = answer;
  throw isInvalid
    ? new XoError("INVALID_PARAMETERS", { reason })
    : new XoError("INTERNAL", { reason: `planner failed: ${reason}` });
}

function aborted(): XoError {
  return new XoError("ABORTED", { what: "planning" });
}

/** Rejects on abort without waiting for the turn in the queue. */
function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(aborted());
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}
