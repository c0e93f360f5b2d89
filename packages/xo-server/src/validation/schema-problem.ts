import type { ErrorObject } from "ajv";
import { closest, distance } from "fastest-levenshtein";
import { chooseBranches } from "./union-branch.js";

/** An error at one position of a value. */
export interface SchemaProblem {
  /** Keys and indexes from the root; empty: the root. */
  readonly path: readonly (string | number)[];
  /** What is allowed; without the path. */
  readonly reason: string;
}

/** Minimum length of a name that is searched in others; shorter ones occur in too many names. */
const MIN_PART = 3;

/** The word for members of the value in messages. */
type MemberNoun = "key" | "parameter";

/** Human-readable path: `pools[0].tls.trust`. */
export function toDottedPath(path: SchemaProblem["path"]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/**
 * Converts errors of Ajv. Of a union, only errors of the branch that the value is
 * meant for are reported.
 * @param errors of a validator with `verbose`
 */
export function toSchemaProblems(
  errors: readonly ErrorObject[],
  noun: MemberNoun,
): SchemaProblem[] {
  const problems = chooseBranches(errors).map((error) =>
    toSchemaProblem(error, noun),
  );
  const seen = new Set<string>();
  return problems.filter(({ path, reason }) => {
    const key = JSON.stringify([path, reason]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Explains an error of Ajv in words. @param noun what an unknown member is called: `parameter` */
function toSchemaProblem(error: ErrorObject, noun: MemberNoun): SchemaProblem {
  const path = toPath(error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "additionalProperties": {
      const key = String(params["additionalProperty"]);
      return unknownMember(path, key, { error, noun });
    }
    case "required":
      return {
        path,
        reason: missing(error, String(params["missingProperty"])),
      };
    case "enum":
      return { path, reason: notOneOf(error) };
    case "const":
      return {
        path,
        reason: `must be ${JSON.stringify(params["allowedValue"])}`,
      };
    case "type":
      return { path, reason: wrongType(params["type"], error.data) };
    case "minimum":
      return { path, reason: `must be at least ${String(params["limit"])}` };
    case "maximum":
      return { path, reason: `must be at most ${String(params["limit"])}` };
    default:
      return { path, reason: error.message ?? error.keyword };
  }
}

function unknownMember(
  path: SchemaProblem["path"],
  key: string,
  { error, noun }: { readonly error: ErrorObject; readonly noun: MemberNoun },
): SchemaProblem {
  const known = knownMembers(error);
  const location = path.length === 0 ? "" : ` in ${toDottedPath(path)}`;
  return {
    path: [...path, key],
    reason: `unknown ${noun} "${key}"${location}; ${nearestOf(key, known, noun)}`,
  };
}

function knownMembers({ parentSchema }: ErrorObject): string[] {
  return Object.keys((parentSchema?.["properties"] ?? {}) as object);
}

/** Suggests a missing member whose name is similar to an unknown one. */
function missing(error: ErrorObject, name: string): string {
  const known = new Set(knownMembers(error));
  const unknown = Object.keys(error.data ?? {}).filter(
    (key) => !known.has(key),
  );
  const meant = unknown.length === 0 ? undefined : closest(name, unknown);
  return meant !== undefined && isTypingError(meant, name)
    ? `${name} is missing ("${meant}" is unknown; did you mean "${name}"?)`
    : `${name} is missing`;
}

function nearestOf(
  wrong: string,
  known: readonly string[],
  noun: MemberNoun,
): string {
  if (known.length === 0) return `there are no ${noun}s`;
  const nearest = containing(wrong, known) ?? closest(wrong, known);
  return isTypingError(wrong, nearest) || containing(wrong, [nearest])
    ? `did you mean "${nearest}"?`
    : `the nearest known ${noun} is "${nearest}" (known ${noun}s: ${known.join(", ")})`;
}

/** The shortest name that contains the wrong one: `targetHost` for `host`. */
function containing(
  wrong: string,
  known: readonly string[],
): string | undefined {
  if (wrong.length < MIN_PART) return undefined;
  const part = wrong.toLowerCase();
  return known
    .filter((name) => name.toLowerCase().includes(part))
    .toSorted((a, b) => a.length - b.length)[0];
}

/** Whether at most half of the characters differ. */
export function isTypingError(wrong: string, right: string): boolean {
  return (
    distance(wrong.toLowerCase(), right.toLowerCase()) <=
    Math.max(2, Math.floor(right.length / 2))
  );
}

function notOneOf(error: ErrorObject): string {
  const allowed = (error.params["allowedValues"] as unknown[]).map(String);
  const list = `must be one of ${allowed.join(", ")}`;
  if (error.data === undefined) return list;
  const value =
    typeof error.data === "string" ? error.data : JSON.stringify(error.data);
  const nearest = closest(value, allowed);
  const hint = isTypingError(value, nearest)
    ? `; did you mean "${nearest}"?`
    : "";
  return `${list}${hint}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "an integer",
  null: "null",
  number: "a number",
  object: "an object",
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
  const types = (Array.isArray(expected) ? expected : [expected]).map(
    (type) => TYPE_NAMES[String(type)] ?? String(type),
  );
  return `must be ${types.join(" or ")}, not ${TYPE_NAMES[kind] ?? kind}`;
}

/** Steps of a JSON pointer; digits become numbers. */
function toPath(pointer: string): (string | number)[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}
