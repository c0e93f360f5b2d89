import { parseLenient } from "@xo-server/model";
import { badAnswer } from "./bad-input.js";

/** How the members of an envelope are called. */
export type EnvelopeKind = "json-rpc" | "status";

/** Members that hold the answer's value, by dialect. */
export const VALUE_MEMBER: Readonly<Record<EnvelopeKind, string>> = {
  "json-rpc": "result",
  // XAPI's own envelope: {"Status":"Success","Value":...} in XML-RPC or in its one string of JSON.
  status: "Value",
};

/** Members whose text is kept. */
export const TEXT_MEMBERS: Readonly<Record<EnvelopeKind, readonly string[]>> = {
  "json-rpc": ["error"],
  status: ["Status", "ErrorDescription"],
};

/** What was kept of an envelope: the JSON text of its members, by name. */
export type EnvelopeMembers = Readonly<Record<string, string>>;

/**
 * XAPI's error in an envelope, the code first; undefined when it tells of success.
 *
 * @throws XoError BAD_ANSWER: it tells neither
 */
export function parseFailure(
  dialect: EnvelopeKind,
  kept: EnvelopeMembers,
  hasValue: boolean,
): readonly string[] | undefined {
  if (dialect === "json-rpc") {
    const { error } = kept;
    if (error !== undefined && error !== "null")
      return jsonRpcError(parseLenient(error));
    if (!hasValue) throw badAnswer("it has neither a result nor an error");
    return undefined;
  }
  if (kept["Status"] === '"Success"') {
    if (!hasValue) throw badAnswer("it has no Value");
    return undefined;
  }
  if (kept["Status"] !== '"Failure"')
    throw badAnswer("its Status is neither Success nor Failure");
  return errorStrings(parseLenient(kept["ErrorDescription"] ?? "null"));
}

/** 1.0, and errors before dispatch: an array, the code first. 2.0: an object with the code as `message` and the parameters as `data`. */
function jsonRpcError(error: unknown): readonly string[] {
  if (typeof error !== "object" || error === null || Array.isArray(error))
    return errorStrings(error);
  const { message, data } = error as { message?: unknown; data?: unknown };
  return errorStrings([
    message,
    ...(Array.isArray(data) ? (data as unknown[]) : []),
  ]);
}

function errorStrings(error: unknown): readonly string[] {
  if (!Array.isArray(error) || typeof error[0] !== "string")
    throw badAnswer("its error is not a list that begins with a code");
  return error.map((part: unknown) =>
    typeof part === "string" ? part : (JSON.stringify(part) ?? ""),
  );
}

/**
 * What stood around the events of event.from.
 *
 * @throws XoError BAD_ANSWER
 */
export function parseEventsEnvelope(kept: EnvelopeMembers): {
  token: string;
  counts: [string, number][];
} {
  const token = parseLenient(kept["token"] ?? "null");
  const counts = parseLenient(kept["valid_ref_counts"] ?? "{}");
  if (typeof token !== "string") throw badAnswer("it has no token");
  if (typeof counts !== "object" || counts === null)
    throw badAnswer("its valid_ref_counts are no struct");
  return { token, counts: Object.entries(counts).map(countOf) };
}

/** XAPI tags these integers even in XML-RPC; where somebody does not, they look like strings. */
function countOf([name, count]: [string, unknown]): [string, number] {
  const number = typeof count === "string" && count !== "" ? +count : count;
  if (typeof number !== "number" || !Number.isSafeInteger(number))
    throw badAnswer("its valid_ref_counts are no numbers");
  return [name, number];
}
