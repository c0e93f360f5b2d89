import {
  classNameOf,
  datamodel,
  XapiError,
  XoError,
  type ErrorCode,
} from "@xo-server/model";
import { isOlderToken } from "./event-token.js";

/** Position of the event stream after one answer of event.from. */
interface StreamPosition {
  readonly token: string;
  readonly validRefCounts: ReadonlyMap<string, number>;
}

/**
 * Was the pool database restored to an earlier state? XAPI reports no error for
 * a token that is newer than its database (observed with XCP-ng 8.3): it returns the same token
 * and no events, while valid_ref_counts keep changing.
 * @param before the previous answer, or only the token the stream began with
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

/** Does the stream subscribe to the class, so that its changes advance the token? */
function isWatched(name: string, classes: readonly string[]): boolean {
  if (datamodel.classes[name]?.events !== true) return false;
  return classes.some(
    (filter) => filter === "*" || classNameOf(filter) === name,
  );
}

/** After this many invalid answers in a row the stream is lost: the same token may return the same invalid record forever. */
export const MAX_BAD_ANSWERS = 3;

const BAD_ANSWERS = new Set<ErrorCode>([
  "BAD_ANSWER",
  "ANSWER_TOO_LARGE",
  "ANSWER_TOO_DEEP",
  "HTTP_STATUS",
  "PARSER_FAILED",
]);

type EventFailure = "lost" | "rewound" | "bad-answer" | "dead" | "call";

/** Classifies the failure of event.from. `call`: to be handled by afterFailedCall. */
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
