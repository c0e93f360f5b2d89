import { isObject, type Json } from "@xo-server/kit";
import type { BulkFailure } from "../actions/plan/follow-task.js";

/** The objects that a bulk operation has failed for. */
export interface FailedItems {
  readonly method: string;
  readonly items: readonly BulkFailure[];
  /** Number of further ones, which the task does not list. */
  readonly leftOut: number;
  /** Parameters of `bulk.run` for the listed objects; undefined: the task does not contain all of them, such as secrets. */
  readonly retry: Readonly<Record<string, Json>> | undefined;
}

/** @param task of `task.list` */
export function failedItemsOf(
  task: Readonly<Record<string, Json>>,
): FailedItems | undefined {
  const { properties = null, result = null, status } = task;
  if (!isObject(properties) || properties["operation"] !== "bulk.run")
    return undefined;
  const { params = null } = properties;
  if (status === "pending" || !isObject(params) || !isObject(result))
    return undefined;
  const { method, idParameter, isIncomplete } = params;
  const { failed, failedLeftOut } = result;
  if (typeof method !== "string" || !Array.isArray(failed)) return undefined;
  const items = failed as unknown as readonly BulkFailure[];
  if (items.length === 0) return undefined;
  const ids = items.map(({ id }) => id);
  return {
    method,
    items,
    leftOut: typeof failedLeftOut === "number" ? failedLeftOut : 0,
    // Tasks of earlier versions have no `idParameter`.
    retry:
      idParameter === undefined || isIncomplete === true
        ? undefined
        : { method, idParameter, ids, params: params["params"] ?? {} },
  };
}
