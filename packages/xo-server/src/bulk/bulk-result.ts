import { XapiError, XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import { fromXapiError } from "../operations/xapi-errors.js";
import type { TaskCounts } from "../tasks/task-context.js";

/** Failure of one item. */
export const BulkFailure = Type.Object({
  id: Type.String(),
  name: Type.Optional(
    Type.String({ description: "Name of the object when it failed." }),
  ),
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
    Type.Integer({ description: "Number of failures that are not listed." }),
  ),
  notBegun: Type.Optional(Type.Integer()),
});
export type BulkResult = Static<typeof BulkResult>;

/**
 * Maximum number of listed failures, and length of each message: a task stores
 * 32,768 characters.
 */
const MAX_FAILURES = 100;
const MAX_CHARACTERS = 120;

/** Outcomes so far. */
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

  /** No item is waiting. */
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
    if (this.#failures.length < MAX_FAILURES) this.#failures.push(failure);
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

/**
 * An item that failed, with shortened texts. Messages of unexpected errors may
 * contain internals, so clients do not see them.
 */
export function toBulkFailure(
  { id, name }: { readonly id: string; readonly name?: string | undefined },
  error: unknown,
): BulkFailure {
  const reported = messageOf(error as Error).slice(0, MAX_CHARACTERS);
  const known = error instanceof XapiError || error instanceof XoError;
  return {
    id,
    ...(name === undefined ? {} : { name: name.slice(0, MAX_CHARACTERS) }),
    error: known
      ? { code: error.code, message: reported }
      : { message: "internal error" },
  };
}

/** XAPI's errors in words, as single calls report them. */
function messageOf(error: Error): string {
  const known =
    error instanceof XapiError
      ? fromXapiError(error, () => undefined)
      : undefined;
  return (known ?? error).message;
}
