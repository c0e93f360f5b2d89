import { createRequire } from "node:module";

/** What `blocked-at` (1.2) exports: it calls back when a callback ran longer than `threshold` ms. */
export type BlockedAt = (
  onBlock: (
    ms: number,
    stack: readonly string[],
    resource: { readonly type?: string },
  ) => void,
  options: { readonly threshold: number },
) => { stop(): void };

/** Where a block began: the stack that created the asynchronous resource whose callback blocked. */
export interface BlockTrace {
  readonly ms: number;
  readonly stack: readonly string[];
  /** Kind of the resource, such as `Timeout` or `TCPWRAP`. */
  readonly resource: string | undefined;
}

export interface BlockTracer {
  /** The longest block since the last call, then forgets. */
  take(): BlockTrace | undefined;
  stop(): void;
}

/**
 * Stacks of blocks, by async hooks: they make an await some 390 times dearer
 * (measured on Node 20), so this runs only while somebody looks for a block.
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
      // blocked-at sets it to Infinity for the whole process and leaves it there.
      Error.stackTraceLimit = stackTraceLimit;
    },
  };
}

/** Loaded on demand: its import alone costs nothing, but who does not trace need not have it. */
function loadBlockedAt(): BlockedAt {
  const require = createRequire(import.meta.url);
  return require("blocked-at") as BlockedAt;
}
