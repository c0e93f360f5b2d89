import {
  classNameOf,
  datamodel,
  XapiError,
  XoError,
  type ErrorCode,
} from "@xo-server/model";
import { isOlderToken } from "./event-token.js";

/** What one answer of event.from says of the stream. */
export interface StreamPosition {
  readonly token: string;
  readonly validRefCounts: ReadonlyMap<string, number>;
}

/**
 * Has the pool gone back in time? A token of its future goes silent without an
 * error (WIRE.md 8): it is handed back as it is while the counts move on.
 * @param before the last answer, or only the token the stream began with
 */
export function isRewound(
  before: {
    readonly token: string;
    readonly validRefCounts?: ReadonlyMap<string, number>;
  },
  now: StreamPosition,
  isEmpty: boolean,
  classes: readonly string[],
): boolean {
  if (isOlderToken(now.token, before.token)) return true;
  if (!isEmpty || now.token !== before.token) return false;
  const counts = before.validRefCounts;
  if (counts === undefined) return false;
  return [...now.validRefCounts].some(
    ([name, count]) => isWatched(name, classes) && counts.get(name) !== count,
  );
}

/** Would a change of the class have moved the token? */
function isWatched(name: string, classes: readonly string[]): boolean {
  if (datamodel.classes[name]?.events !== true) return false;
  return classes.some(
    (filter) => filter === "*" || classNameOf(filter) === name,
  );
}

/** A bad answer may be bad because of what it tells: the same token would bring it again. */
export const MAX_BAD_ANSWERS = 3;

const BAD_ANSWERS = new Set<ErrorCode>([
  "BAD_ANSWER",
  "ANSWER_TOO_LARGE",
  "ANSWER_TOO_DEEP",
  "HTTP_STATUS",
  "PARSER_FAILED",
]);

export type EventFailure = "lost" | "rewound" | "bad-answer" | "dead" | "call";

/** What kind of failure ended an event.from. `call`: what afterFailedCall says. */
export function eventFailure(error: unknown): EventFailure {
  if (error instanceof XapiError) {
    if (error.code === "EVENTS_LOST") return "lost";
    if (error.code === "EVENT_FROM_TOKEN_PARSE_FAILURE") return "rewound";
    return "call";
  }
  if (!(error instanceof XoError)) return "call";
  if (error.code === "CALL_TIMEOUT") return "dead";
  return BAD_ANSWERS.has(error.code) ? "bad-answer" : "call";
}
