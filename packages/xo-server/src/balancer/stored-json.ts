import type { BalancerRun } from "@xo-server/store";
import { defaultPolicy, type Policy } from "./policy.js";
import type { RunRecord } from "./run-record.js";

/* Policies and runs in the database. */

/** @param body stored JSON; members that it does not have get their defaults */
export function toPolicy(body: unknown): Policy {
  return { ...defaultPolicy, ...(body as Partial<Policy> | undefined) };
}

/** The record of a stored run. */
export function recordOf(run: BalancerRun): RunRecord {
  return run.body as RunRecord;
}
