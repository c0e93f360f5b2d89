import { createRequire } from "node:module";

/**
 * The function that `blocked-at` (1.2) exports: reports callbacks that run
 * longer than `threshold` ms.
 */
export type BlockedAt = (
  onBlock: (
    ms: number,
    stack: readonly string[],
    resource: { readonly type?: string },
  ) => void,
  options: { readonly threshold: number },
) => { stop(): void };

/**
 * Origin of a block: the stack that created the asynchronous resource whose
 * callback blocked.
 */
export interface BlockTrace {
  readonly ms: number;
  readonly stack: readonly string[];
  /** Type of the resource, such as `Timeout` or `TCPWRAP`. */
  readonly resource: string | undefined;
}

export interface BlockTracer {
  /** Returns the longest block since the last call and clears it. */
  take(): BlockTrace | undefined;
  stop(): void;
}

/**
 * Records stacks of blocks by async hooks, which make an await about 390 times
 * as expensive (measured on Node 20): only for debugging.
 */
export function startBlockTracer(
  thresholdMs: number,
  blockedAt: BlockedAt = loadBlockedAt(),
): BlockTracer {
  let longest: BlockTrace | undefined;
  const stackTraceLimit = Error.stackTraceLimit;
  const hook = blockedAt(
    (ms, stack, resource) => {
      if (longest === undefined || ms > longest.ms)
        longest = {
          ms,
          stack: stack.map((line) => line.trim()),
          resource: resource.type,
        };
    },
    { threshold: thresholdMs },
  );
  return {
    take() {
      const trace = longest;
      longest = undefined;
      return trace;
    },
    stop() {
      hook.stop();
      // blocked-at sets it to Infinity for the whole process and does not
      // restore it.
      Error.stackTraceLimit = stackTraceLimit;
    },
  };
}

/** Loaded on demand: the package is needed only for tracing. */
function loadBlockedAt(): BlockedAt {
  const require = createRequire(import.meta.url);
  return require("blocked-at") as BlockedAt;
}
