import { isObject, type Json } from "@xo-server/kit";
import { RpcError } from "../../api/rpc-error.js";

/** How far moves came that were not all made. */
export interface Midway {
  readonly done: number;
  readonly skipped: number;
  /** The VM whose move failed, by its id; undefined: somebody gave it up. */
  readonly vm: string | undefined;
  readonly reason: string;
}

/** What an error of `placement.apply` says of that; undefined: nothing was begun. */
export function midwayOf(error: unknown): Midway | undefined {
  if (!(error instanceof RpcError)) return undefined;
  const data = error.data as Json | undefined;
  if (data === undefined || !isObject(data)) return undefined;
  const { done, failed, skipped } = data;
  if (!Array.isArray(done) || !Array.isArray(skipped)) return undefined;
  const [first = null] = Array.isArray(failed) ? (failed as Json[]) : [];
  const { step = null, error: why = null } = isObject(first) ? first : {};
  const vm = isObject(step) ? step["vm"] : undefined;
  const message = isObject(why) ? why["message"] : undefined;
  return {
    done: done.length,
    skipped: skipped.length,
    vm: typeof vm === "string" ? vm : undefined,
    reason: typeof message === "string" ? message : error.message,
  };
}
