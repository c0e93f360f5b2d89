import { withoutSecrets } from "../operations/audit.js";
import { toFailure } from "../tasks/task-view.js";

/** One call of a run, as it is kept and shown; times in ms since the epoch. */
export interface LoggedCall {
  readonly method: string;
  readonly params: object;
  readonly start: number;
  readonly end: number;
  readonly status: "success" | "failure";
  readonly result?: unknown;
  readonly error?: object;
}

/** What is kept of the calls of a run. */
export interface LoggedCalls {
  readonly calls: readonly LoggedCall[];
  readonly succeeded: number;
  readonly failed: number;
  /** Calls that there was no room for. */
  readonly leftOut?: number;
}

/** Characters of one call's parameters, and of its result. */
const MOST_OF_ONE = 2_048;
/** Characters of all calls that succeeded, and again of those that failed. */
const MOST_OF_ALL = 100_000;

const ID = /^[0-9a-f-]{8,80}$/i;

/** What a run has called, without secrets, within bounds; failures are never left out for the sake of successes. */
export class CallLog {
  readonly #calls: LoggedCall[] = [];
  readonly #room = { success: MOST_OF_ALL, failure: MOST_OF_ALL };
  readonly #count = { success: 0, failure: 0 };

  get succeeded(): number {
    return this.#count.success;
  }

  get failed(): number {
    return this.#count.failure;
  }

  succeed(call: CallTold, result: unknown): void {
    const told = toResult(result);
    this.#add({
      ...toLogged(call, "success"),
      ...(told === undefined ? {} : { result: told }),
    });
  }

  fail(call: CallTold, error: Error): void {
    const failure = bounded(toFailure(error));
    this.#add({ ...toLogged(call, "failure"), error: failure });
  }

  toBody(): LoggedCalls {
    const leftOut = this.succeeded + this.failed - this.#calls.length;
    return {
      calls: this.#calls,
      succeeded: this.succeeded,
      failed: this.failed,
      ...(leftOut === 0 ? {} : { leftOut }),
    };
  }

  #add(call: LoggedCall): void {
    this.#count[call.status]++;
    const { length } = JSON.stringify(call);
    if (length > this.#room[call.status]) return;
    this.#room[call.status] -= length;
    this.#calls.push(call);
  }
}

type CallTold = Pick<LoggedCall, "method" | "params" | "start" | "end">;

function toLogged<Status extends LoggedCall["status"]>(
  { method, params, start, end }: CallTold,
  status: Status,
) {
  return { method, params: toShown(params), start, end, status };
}

/** Parameters as they may be shown. */
export function toShown(params: object): object {
  return bounded(withoutSecrets(params));
}

/** Ids and plain answers: other text may be a token, streams are nobody's, one-time paths (`$getFrom`) are secrets. */
function toResult(result: unknown): unknown {
  if (typeof result === "string") return ID.test(result) ? result : undefined;
  if (typeof result !== "object" || result === null) return result;
  if (Object.getPrototypeOf(result) !== Object.prototype) return undefined;
  const members = Object.entries(result).filter(
    ([key]) => !key.startsWith("$"),
  );
  return toShown(Object.fromEntries(members));
}

function bounded(value: object): object {
  const { length } = JSON.stringify(value);
  return length <= MOST_OF_ONE ? value : { leftOut: `${length} characters` };
}
