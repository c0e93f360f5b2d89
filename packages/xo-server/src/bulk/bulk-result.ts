import { XapiError, XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { TaskCounts } from "../tasks/task-context.js";

/** How one of the many failed. */
export const BulkFailure = Type.Object({
  id: Type.String(),
  error: Type.Object({
    code: Type.Optional(Type.String()),
    message: Type.String(),
  }),
});
export type BulkFailure = Static<typeof BulkFailure>;

export const BulkResult = Type.Object({
  succeeded: Type.Integer(),
  failed: Type.Array(BulkFailure),
  failedLeftOut: Type.Optional(
    Type.Integer({ description: "Failures that are counted, not listed." }),
  ),
  notBegun: Type.Optional(Type.Integer()),
});
export type BulkResult = Static<typeof BulkResult>;

/** Failures that are listed, and characters of the message of each: a task keeps 32,768. */
const MOST_FAILURES = 100;
const MOST_CHARACTERS = 120;

/** What has become of the many so far. */
export class BulkTally {
  readonly #failures: BulkFailure[] = [];
  readonly #total: number;
  #succeeded = 0;
  #failed = 0;
  #running = 0;

  constructor(total: number) {
    this.#total = total;
  }

  get failed(): number {
    return this.#failed;
  }

  /** None waits. */
  get isLast(): boolean {
    return this.counts().waiting === 0;
  }

  begin(): void {
    this.#running++;
  }

  succeed(): void {
    this.#running--;
    this.#succeeded++;
  }

  fail(failure: BulkFailure): void {
    this.#running--;
    this.#failed++;
    if (this.#failures.length < MOST_FAILURES) this.#failures.push(failure);
  }

  counts(): TaskCounts {
    const [total, succeeded, failed] = [
      this.#total,
      this.#succeeded,
      this.#failed,
    ];
    const running = this.#running;
    const waiting = total - succeeded - failed - running;
    return { total, succeeded, failed, running, waiting };
  }

  result(): BulkResult {
    const { waiting } = this.counts();
    const leftOut = this.#failed - this.#failures.length;
    return {
      succeeded: this.#succeeded,
      failed: this.#failures,
      ...(leftOut === 0 ? {} : { failedLeftOut: leftOut }),
      ...(waiting === 0 ? {} : { notBegun: waiting }),
    };
  }
}

export function toBulkFailure(id: string, error: unknown): BulkFailure {
  const { message } = error as Error;
  const told = message.slice(0, MOST_CHARACTERS);
  const known = error instanceof XapiError || error instanceof XoError;
  return {
    id,
    error: known
      ? { code: error.code, message: told }
      : { message: "internal error" },
  };
}
