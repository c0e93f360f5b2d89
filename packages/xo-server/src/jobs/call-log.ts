import { shownParameters } from "../operations/audit.js";
import { toFailure } from "../tasks/task-view.js";

/**
 * One call of a run as it is stored and returned. Times are ms since the epoch.
 */
export interface LoggedCall {
  readonly method: string;
  readonly params: object;
  readonly start: number;
  readonly end: number;
  readonly status: "success" | "failure";
  readonly result?: unknown;
  readonly error?: object;
}

/** The stored calls of a run. */
export interface LoggedCalls {
  readonly calls: readonly LoggedCall[];
  readonly succeeded: number;
  readonly failed: number;
  /** Number of calls that were not stored because of the size limit. */
  readonly leftOut?: number;
}

/** Maximum length of a call's parameters, and of its result, in characters. */
const MAX_CALL_LENGTH = 2_048;
/** Maximum total length of successful calls, and also of failed calls, in characters. */
const MAX_LOG_LENGTH = 100_000;

const ID = /^[0-9a-f-]{8,80}$/i;

/**
 * The calls of a run without secrets, limited in size. Successful calls never
 * displace failed ones.
 */
export class CallLog {
  readonly #calls: LoggedCall[] = [];
  readonly #room = { success: MAX_LOG_LENGTH, failure: MAX_LOG_LENGTH };
  readonly #count = { success: 0, failure: 0 };

  get succeeded(): number {
    return this.#count.success;
  }

  get failed(): number {
    return this.#count.failure;
  }

  succeed(call: EndedCall, result: unknown): void {
    const shown = toResult(result);
    this.#add({
      ...toLogged(call, "success"),
      ...(shown === undefined ? {} : { result: shown }),
    });
  }

  fail(call: EndedCall, error: Error): void {
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

type EndedCall = Pick<LoggedCall, "method" | "params" | "start" | "end">;

function toLogged<Status extends LoggedCall["status"]>(
  { method, params, start, end }: EndedCall,
  status: Status,
) {
  return { method, params: toShown(params), start, end, status };
}

/** Parameters without secrets. */
export function toShown(params: object): object {
  return bounded(shownParameters(params));
}

/**
 * Only ids and plain values are logged: other strings may be tokens, streams have
 * no text, one-time paths (`$getFrom`) are secrets.
 */
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
  return length <= MAX_CALL_LENGTH
    ? value
    : { leftOut: `${length} characters` };
}
