import { XoError } from "@xo-server/model";

/** Limits of stored data; bytes are those of UTF-8. */
export const limits = {
  /** A name, a description, an address. */
  textBytes: 1_024,
  passwordBytes: 4_096,
  /** A setting, preferences, a job, a task. */
  jsonBytes: 256 * 1_024,
  /** Parameters of an operation in the audit log; longer ones are left out. */
  auditParametersBytes: 16 * 1_024,
  pageRows: 1_000,
  defaultPageRows: 100,
  /** Rows of each cached table. */
  cachedRows: 100_000,
  tokensPerUser: 1_000,
  /** Changes waiting for their commit. */
  waitingChanges: 10_000,
  importBytes: 16 * 1_024 * 1_024,
} as const;

/** U+0000, which PostgreSQL rejects, and lone surrogates, which UTF-8 cannot encode. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * @param what name of the value in the error
 * @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS
 */
export function checkText(
  what: string,
  value: string,
  maxBytes: number = limits.textBytes,
): string {
  const bytes = Buffer.byteLength(value);
  if (bytes > maxBytes)
    throw new XoError("VALUE_TOO_LARGE", { what, bytes, limit: maxBytes });
  if (UNSTORABLE.test(value))
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${what} has characters that cannot be stored`,
    });
  return value;
}

/** Checks a text like checkText, and that it is not empty. */
export function checkName(what: string, value: string): string {
  if (value.trim() === "")
    throw new XoError("INVALID_PARAMETERS", { reason: `${what} is empty` });
  return checkText(what, value);
}

/** Serializes a JSON value within the limit. */
export function toJson(
  what: string,
  value: unknown,
  maxBytes: number = limits.jsonBytes,
): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined)
    throw new XoError("INVALID_PARAMETERS", { reason: `${what} is not JSON` });
  // JSON.stringify escapes characters that cannot be stored.
  return checkText(what, text, maxBytes);
}

/** @throws XoError INVALID_PARAMETERS */
export function checkPageRows(rows: number = limits.defaultPageRows): number {
  if (Number.isInteger(rows) && rows >= 1 && rows <= limits.pageRows)
    return rows;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `a page has 1 to ${limits.pageRows} rows`,
  });
}
