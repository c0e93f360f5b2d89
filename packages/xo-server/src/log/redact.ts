import { isSecretName, maskText } from "@xo-server/inventory";

/** In addition to the names of secrets in records of pools. */
const SECRET_KEY = /session|authori[sz]ation|cookie/i;

/** Replaces secrets in log lines. */
export const REDACTED = "[redacted]";

/** Maximum nesting of logged data. */
export const MAX_DEPTH = 6;

/**
 * What is shown in place of a member of an object that is, or contains, a secret;
 * undefined for other members.
 */
type MaskMember = (key: string, value: unknown) => unknown;

/** Logs, the audit log and views of records use the same list of names. */
export const maskSecretMember: MaskMember = (key) =>
  SECRET_KEY.test(key) || isSecretName(key) ? REDACTED : undefined;

/**
 * A copy of `data` fit for a log: values under keys that name secrets are
 * replaced, passwords in texts masked, errors become objects, and nothing is
 * deeper than MAX_DEPTH.
 */
export function redact(
  data: unknown,
  depth = 0,
  mask: MaskMember = maskSecretMember,
): unknown {
  if (data instanceof Error) return redactError(data, depth);
  if (typeof data === "bigint") return String(data);
  if (typeof data === "string") return maskText(data);
  if (typeof data !== "object" || data === null) return data;
  if (depth >= MAX_DEPTH) return "[deep]";
  if (Array.isArray(data))
    return data.map((item) => redact(item, depth + 1, mask));
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      (value === undefined ? undefined : mask(key, value)) ??
        redact(value, depth + 1, mask),
    ]),
  );
}

/** Redacts an error. Only unexpected errors, which have no code, keep their stack. */
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
