import {
  agilityOf,
  explainAction,
  indexPool,
  InvalidModel,
  placeVm,
  planBalance,
  planEvacuation,
  planFailover,
  planRepair,
  planRolling,
  planStarts,
  survivedFailures,
  whatIf,
  type IndexedPool,
  type PoolModel,
} from "@xo-server/placement";
import { parentPort } from "node:worker_threads";
import {
  runToEnd,
  buffersOf,
  SlicedSerializer,
  SlicedDeserializer,
  type SerializedValue,
} from "./sliced-serialization.js";

/**
 * Planning functions that can be requested. The first parameter of each is the
 * indexed pool.
 */
const plannerFunctions = {
  starts: (...input: Parameters<typeof planStarts>) =>
    planStarts(...input).plan,
  place: placeVm,
  explain: explainAction,
  evacuation: planEvacuation,
  failover: planFailover,
  survival: survivedFailures,
  balance: planBalance,
  repair: planRepair,
  rolling: planRolling,
  whatIf,
  agility: agilityOf,
};
export type PlannerFunctions = typeof plannerFunctions;

export interface PlannerRequest {
  readonly name: keyof PlannerFunctions;
  /** Number of the model. */
  readonly model: number;
  /** Absent: the thread has the model already. */
  readonly packedModel?: SerializedValue;
  /** Arguments by position. */
  readonly args: SerializedValue;
}

export type PlannerResponse =
  | { readonly packed: SerializedValue }
  /** `isInvalid`: the request is invalid; otherwise the planner failed. */
  | { readonly reason: string; readonly isInvalid: boolean };

let held: { readonly model: number; readonly pool: IndexedPool } | undefined;

function answer(question: PlannerRequest): PlannerResponse {
  try {
    const args = Object.values(unpack(question.args) as object) as never[];
    const solve = plannerFunctions[question.name] as (
      pool: IndexedPool,
      ...args: never[]
    ) => unknown;
    return { packed: pack(solve(poolOf(question), ...args)) };
  } catch (error) {
    const isInvalid = error instanceof InvalidModel;
    return { reason: (error as Error).message, isInvalid };
  }
}

function poolOf({ model, packedModel }: PlannerRequest): IndexedPool {
  if (packedModel !== undefined) {
    held = undefined;
    const pool = indexPool(unpack(packedModel) as PoolModel);
    held = { model, pool };
  }
  if (held?.model !== model) throw new Error("the model was not sent");
  return held.pool;
}

function unpack(packed: SerializedValue): unknown {
  const unpacking = new SlicedDeserializer(packed);
  runToEnd(unpacking.steps());
  return unpacking.value;
}

function pack(value: unknown): SerializedValue {
  const packing = new SlicedSerializer(value);
  runToEnd(packing.steps());
  return packing.result;
}

parentPort?.on("message", (question: PlannerRequest) => {
  const response = answer(question);
  const moved = "packed" in response ? buffersOf(response.packed) : [];
  parentPort?.postMessage(response, moved);
});
