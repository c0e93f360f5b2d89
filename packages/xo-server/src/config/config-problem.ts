import type { ErrorObject } from "ajv";
import { closest, distance } from "fastest-levenshtein";

/** A problem of the config. */
export interface ConfigProblem {
  /** Keys and indexes from the root; empty: the root. */
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

/** Human-readable path: `pools[0].tls.trust`. */
export function toDottedPath(path: ConfigProblem["path"]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/** A validation error of Ajv as a problem of the config file. */
export function toConfigProblem(error: ErrorObject): ConfigProblem {
  const path = toPath(error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(path, String(params["additionalProperty"]), error);
    case "required":
      return {
        path,
        reason: `${String(params["missingProperty"])} is missing`,
      };
    case "enum":
      return { path, reason: notOneOf(error) };
    case "type":
      return { path, reason: wrongType(params["type"], error.data) };
    default:
      return { path, reason: error.message ?? error.keyword };
  }
}

function unknownKey(
  path: ConfigProblem["path"],
  key: string,
  error: ErrorObject,
): ConfigProblem {
  const known = Object.keys(
    (error.parentSchema?.["properties"] ?? {}) as object,
  );
  const place = path.length === 0 ? "" : ` in ${toDottedPath(path)}`;
  return {
    path: [...path, key],
    reason: `unknown key "${key}"${place}; ${nearestOf(key, known)}`,
  };
}

function nearestOf(wrong: string, known: readonly string[]): string {
  const nearest = closest(wrong, known);
  return isTypingError(wrong, nearest)
    ? `did you mean "${nearest}"?`
    : `the nearest known key is "${nearest}" (known keys: ${known.join(", ")})`;
}

/** Whether at most half of the characters differ. */
function isTypingError(wrong: string, right: string): boolean {
  return (
    distance(wrong.toLowerCase(), right.toLowerCase()) <=
    Math.max(2, Math.floor(right.length / 2))
  );
}

function notOneOf(error: ErrorObject): string {
  const allowed = (error.params["allowedValues"] as unknown[]).map(String);
  const value = String(error.data);
  const nearest = closest(value, allowed);
  const hint = isTypingError(value, nearest)
    ? `; did you mean "${nearest}"?`
    : "";
  return `must be one of ${allowed.join(", ")}${hint}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "an integer",
  object: "a section",
  string: "a string",
};

function wrongType(expected: unknown, actual: unknown): string {
  const kind = Array.isArray(actual)
    ? "array"
    : actual === null
      ? "empty"
      : Number.isInteger(actual)
        ? "integer"
        : typeof actual;
  return `must be ${TYPE_NAMES[String(expected)] ?? String(expected)}, not ${TYPE_NAMES[kind] ?? kind}`;
}

/** Steps of a JSON pointer; digits become numbers. */
function toPath(pointer: string): (string | number)[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}
