const SECRET_KEY =
  /pass(word|phrase|wd)|secret|token|session|authori[sz]ation|cookie|credential|api-?key|private-?key/i;

/** Replaces secrets in log lines. */
export const REDACTED = "[redacted]";

/** Data nested deeper than this is not logged. */
const MAX_DEPTH = 6;

/**
 * A copy of `data` fit for a log: values under keys that name secrets are
 * replaced, errors become objects, and nothing is deeper than MAX_DEPTH.
 */
export function redact(data: unknown, depth = 0): unknown {
  if (data instanceof Error) return redactError(data, depth);
  if (typeof data === "bigint") return String(data);
  if (typeof data !== "object" || data === null) return data;
  if (depth >= MAX_DEPTH) return "[deep]";
  if (Array.isArray(data)) return data.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      SECRET_KEY.test(key) && value !== undefined
        ? REDACTED
        : redact(value, depth + 1),
    ]),
  );
}

/** Only unexpected errors, which have no code, are logged with their stack. */
function redactError(error: Error, depth: number): unknown {
  const code: unknown = Reflect.get(error, "code");
  return {
    message: error.message,
    ...(typeof code === "string" ? { code } : { stack: error.stack }),
    ...(error.cause === undefined
      ? {}
      : { cause: redact(error.cause, depth + 1) }),
  };
}
