import { parseLenient } from "@xo-server/model";
import { badAnswer } from "./bad-input.js";

/** Which member names an envelope has. */
export type EnvelopeKind = "json-rpc" | "status";

/** Member that contains the value, by kind of envelope. */
export const VALUE_MEMBER: Readonly<Record<EnvelopeKind, string>> = {
  "json-rpc": "result",
  // XAPI's envelope in XML-RPC and in JSON in XML: {"Status":"Success","Value":...}.
  status: "Value",
};

/** Members whose JSON text is stored. */
export const TEXT_MEMBERS: Readonly<Record<EnvelopeKind, readonly string[]>> = {
  "json-rpc": ["error"],
  status: ["Status", "ErrorDescription"],
};

/** JSON text of stored members of an envelope, by name. */
type EnvelopeMembers = Readonly<Record<string, string>>;

/**
 * The error of XAPI in an envelope, the code first; undefined for success.
 *
 * @throws XoError BAD_ANSWER: neither success nor failure
 */
export function parseFailure(
  kind: EnvelopeKind,
  members: EnvelopeMembers,
  hasValue: boolean,
): readonly string[] | undefined {
  if (kind === "json-rpc") {
    const { error } = members;
    if (error !== undefined && error !== "null")
      return jsonRpcError(parseLenient(error));
    if (!hasValue) throw badAnswer("neither result nor error");
    return undefined;
  }
  if (members["Status"] === '"Success"') {
    if (!hasValue) throw badAnswer("no Value");
    return undefined;
  }
  if (members["Status"] !== '"Failure"')
    throw badAnswer("Status is neither Success nor Failure");
  return errorStrings(parseLenient(members["ErrorDescription"] ?? "null"));
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
    throw badAnswer("the error is not a list that starts with a code");
  return error.map((part: unknown) =>
    typeof part === "string" ? part : (JSON.stringify(part) ?? ""),
  );
}

/** Two numbers of 20 digits in all known versions; each request of events has it. */
const MAX_TOKEN_LENGTH = 1024;
/** Names and counts of about 60 classes have 1.5 kB. Used on the main thread. */
const MAX_COUNTS_LENGTH = 65_536;

/**
 * Token and counts in the answer of event.from.
 *
 * @throws XoError BAD_ANSWER
 */
export function parseEventsEnvelope(members: EnvelopeMembers): {
  token: string;
  counts: [string, number][];
} {
  const tokenText = members["token"] ?? "null";
  const countsText = members["valid_ref_counts"] ?? "{}";
  if (tokenText.length > MAX_TOKEN_LENGTH)
    throw badAnswer(`the token has ${tokenText.length} characters`);
  if (countsText.length > MAX_COUNTS_LENGTH)
    throw badAnswer(`valid_ref_counts has ${countsText.length} characters`);
  const token = parseLenient(tokenText);
  const counts = parseLenient(countsText);
  if (typeof token !== "string") throw badAnswer("no token");
  if (typeof counts !== "object" || counts === null)
    throw badAnswer("valid_ref_counts is not a struct");
  return { token, counts: Object.entries(counts).map(countOf) };
}

/** XAPI tags these integers in XML-RPC; without a tag they are strings. */
function countOf([name, count]: [string, unknown]): [string, number] {
  const number = typeof count === "string" && count !== "" ? +count : count;
  if (typeof number !== "number" || !Number.isSafeInteger(number))
    throw badAnswer("valid_ref_counts has values that are not integers");
  return [name, number];
}
