import t from "tap";
import { createTestPool, type TestPool } from "../operations-pool.js";
import type { XapiValue } from "../../src/xapi-value.js";

export const NULL = "OpaqueRef:NULL";

export type Call = readonly [method: string, ...params: XapiValue[]];

/** One call, and what a real XAPI answered to it. */
export interface AnswerCase {
  /** The row of the comparison with a real XAPI 26.17 from which the answer is. */
  readonly row: string;
  /** Prepares the pool. @returns the call, and its error (code and parameters) or a check of its result */
  readonly prepare: (pool: TestPool) => {
    readonly call: Call;
    readonly error?: readonly string[];
    readonly result?: unknown;
  };
}

/** Runs each case on a pool of its own. */
export function checkAnswers(cases: readonly AnswerCase[]): void {
  for (const { row, prepare } of cases)
    t.test(row, async (t) => {
      const pool = createTestPool();
      const { call, error, result } = prepare(pool);
      if (error !== undefined) {
        t.strictSame(await pool.failure(...call), error);
        return;
      }
      const answer = await pool.call(...call);
      if (result !== undefined) t.match(answer, result);
      else t.pass();
    });
}
