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
  planStarts,
  survivedFailures,
  whatIf,
  type IndexedPool,
  type PoolModel,
} from "@xo-server/placement";
import { parentPort } from "node:worker_threads";
import {
  atOnce,
  buffersOf,
  Packing,
  Unpacking,
  type Packed,
} from "./pieces.js";

/** What the planner can be asked for; each takes an indexed pool first. */
export const problems = {
  starts: (...given: Parameters<typeof planStarts>) =>
    planStarts(...given).plan,
  place: placeVm,
  explain: explainAction,
  evacuation: planEvacuation,
  failover: planFailover,
  survival: survivedFailures,
  balance: planBalance,
  repair: planRepair,
  whatIf,
  agility: agilityOf,
};
export type Problems = typeof problems;

export interface Question {
  readonly name: keyof Problems;
  /** Which model it is. */
  readonly model: number;
  /** Absent: it is the model of the question before. */
  readonly packedModel?: Packed;
  /** By their position. */
  readonly args: Packed;
}

export type Answer =
  | { readonly packed: Packed }
  /** `isInvalid`: what was asked makes no sense; else the planner failed. */
  | { readonly reason: string; readonly isInvalid: boolean };

let held: { readonly model: number; readonly pool: IndexedPool } | undefined;

function answer(question: Question): Answer {
  try {
    const args = Object.values(unpack(question.args) as object) as never[];
    const solve = problems[question.name] as (
      pool: IndexedPool,
      ...args: never[]
    ) => unknown;
    return { packed: pack(solve(poolOf(question), ...args)) };
  } catch (error) {
    const isInvalid = error instanceof InvalidModel;
    return { reason: (error as Error).message, isInvalid };
  }
}

function poolOf({ model, packedModel }: Question): IndexedPool {
  if (packedModel !== undefined) {
    held = undefined;
    const pool = indexPool(unpack(packedModel) as PoolModel);
    held = { model, pool };
  }
  if (held?.model !== model) throw new Error("the model is not here");
  return held.pool;
}

function unpack(packed: Packed): unknown {
  const unpacking = new Unpacking(packed);
  atOnce(unpacking.steps());
  return unpacking.value;
}

function pack(value: unknown): Packed {
  const packing = new Packing(value);
  atOnce(packing.steps());
  return packing.packed;
}

parentPort?.on("message", (question: Question) => {
  const told = answer(question);
  const moved = "packed" in told ? buffersOf(told.packed) : [];
  parentPort?.postMessage(told, moved);
});
