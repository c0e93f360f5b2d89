import { isObject, type Json } from "@xo-server/kit";
import { RpcError } from "../../api/rpc-error.js";

/** Progress of a plan that was not completed. */
interface Midway {
  readonly done: number;
  readonly skipped: number;
  /** The VM whose migration failed, by its id; undefined: the task was cancelled. */
  readonly vm: string | undefined;
  readonly reason: string;
}

/** Progress from an error of `placement.apply`; undefined: nothing was started. */
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
