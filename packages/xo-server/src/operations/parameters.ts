import { XoError } from "@xo-server/model";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import {
  toDottedPath,
  toSchemaProblems,
  type SchemaProblem,
} from "../validation/schema-problem.js";
import type { Operation } from "./operation.js";

/**
 * Checks parameters against the schema, and adds defaults.
 * @throws XoError INVALID_PARAMETERS
 */
export type CheckParameters = (received: unknown) => object;

interface Validators {
  /** Reports all errors of small parameters. */
  readonly detailed: Ajv;
  /** Stops at the first error, because a message may have a million wrong values. */
  readonly quick: Ajv;
}

/** Validators for all operations. They write defaults into the parameters that they check. */
export function createValidators(): Validators {
  const options = {
    useDefaults: true,
    // Errors contain the schema and the value, for readable messages.
    verbose: true,
    allowUnionTypes: true,
    // Validating the schemas themselves would add 50 ms to each start; the tests do it instead.
    validateSchema: false,
    // Optimizing the generated code takes 40 % of the compile time without making it faster.
    code: { optimize: false },
  };
  return {
    detailed: new Ajv({ ...options, allErrors: true }),
    quick: new Ajv(options),
  };
}

/** Validates the parameters of an operation; the validator is compiled at the first call. */
export function createCheck(
  { detailed, quick }: Validators,
  { name, params }: Pick<Operation, "name" | "params">,
): CheckParameters {
  const known = Object.keys(params.properties);
  const isOpen = Reflect.get(params, "additionalProperties") === true;
  // Compiled at the first call: compiling the validators of all operations would
  // add 200 ms to each start.
  const validators = new Map<Ajv, ValidateFunction>();
  const validatorOf = (ajv: Ajv): ValidateFunction => {
    const validate =
      validators.get(ajv) ??
      ajv.compile(withBounds({ additionalProperties: false, ...params }));
    validators.set(ajv, validate);
    return validate;
  };
  return (received) => {
    const input = toObject(received);
    // Some clients send a dummy parameter to methods without parameters.
    if (known.length === 0 && !isOpen) return {};
    const validate = validatorOf(isSmall(input) ? detailed : quick);
    const cleaned = readAlias(readQuestionMarks(input, known), known, name);
    if (validate(cleaned)) return cleaned;
    throw invalid(validate.errors ?? []);
  };
}

/**
 * Maximum number of members of an object with arbitrary keys, unless its schema has
 * another limit.
 */
const MAX_MEMBERS = 1_000;

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema or a list of schemas. */
const INNER = ["items", "additionalProperties", "anyOf", "allOf", "oneOf"];
/** Keywords whose value is an object of schemas. */
const INNER_BY_KEY = ["properties", "patternProperties"];

/**
 * A copy of a schema that limits the number of members of objects with arbitrary
 * keys: checking a hundred thousand members would block the server.
 */
function withBounds(schema: Schema): Schema {
  const hasAnyKeys =
    isMember(schema["patternProperties"]) ||
    isMember(schema["additionalProperties"]) ||
    schema["additionalProperties"] === true;
  const bounded: Record<string, unknown> = {
    ...(hasAnyKeys ? { maxProperties: MAX_MEMBERS } : {}),
    ...schema,
  };
  for (const name of INNER) {
    const inner = schema[name];
    if (Array.isArray(inner))
      bounded[name] = inner.map((one) => withBounds(one as Schema));
    else if (isMember(inner)) bounded[name] = withBounds(inner);
  }
  for (const name of INNER_BY_KEY) {
    const inner = schema[name];
    if (!isMember(inner)) continue;
    const entries = Object.entries(inner).map(([key, one]) => [
      key,
      withBounds(one as Schema),
    ]);
    bounded[name] = Object.fromEntries(entries) as Schema;
  }
  return bounded;
}

function isMember(value: unknown): value is Schema {
  return typeof value === "object" && value !== null;
}

/**
 * Maximum number of values in parameters for which all errors are reported;
 * validation takes about 1 us per value.
 */
const SMALL = 2_000;

function isSmall(params: object): boolean {
  let left = SMALL;
  const count = (value: unknown): void => {
    if (left-- <= 0 || typeof value !== "object" || value === null) return;
    for (const key in value) {
      if (left <= 0) return;
      count(Reflect.get(value, key));
    }
  };
  count(params);
  return left > 0;
}

type Members = Record<string, unknown>;

function toObject(received: unknown): object {
  if (received === undefined || received === null) return {};
  if (Array.isArray(received) && received.length === 0) return {};
  if (typeof received === "object" && !Array.isArray(received)) return received;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "params must be an object",
    errors: [],
  });
}

/**
 * Clients of Xen Orchestra send `"foo?"` for an optional parameter: it is read as
 * `foo` if that is known, and dropped otherwise.
 */
function readQuestionMarks(
  received: object,
  known: readonly string[],
): Members {
  return Object.fromEntries(
    Object.entries(received)
      .filter(([key]) => !key.endsWith("?") || known.includes(key.slice(0, -1)))
      .map(([key, value]) => [key.replace(/\?$/, ""), value as unknown]),
  );
}

/** `vm.start vm=X` is read as `id=X`. */
function readAlias(
  received: Members,
  known: readonly string[],
  method: string,
): Members {
  const noun = method.split(".")[0]!;
  if (!known.includes("id") || known.includes(noun)) return received;
  if (Object.hasOwn(received, "id") || !Object.hasOwn(received, noun))
    return received;
  const { [noun]: id, ...others } = received;
  return { ...others, id };
}

/**
 * `on.threshold must be a number, not a string`; the reason of an unknown member
 * already contains its name.
 */
function toSentence({ path, reason }: SchemaProblem): string {
  if (reason.startsWith("unknown ")) return reason;
  const location = toDottedPath(path);
  if (location === "") return reason;
  return / is missing/.test(reason)
    ? `${location}.${reason}`
    : `${location} ${reason}`;
}

function invalid(errors: readonly ErrorObject[]): XoError {
  const details = errors.map(
    ({ instancePath, schemaPath, keyword, params, message }) => ({
      instancePath,
      schemaPath,
      keyword,
      params: params as unknown,
      message,
    }),
  );
  const reason = toSchemaProblems(errors, "parameter")
    .map(toSentence)
    .join("; ");
  return new XoError("INVALID_PARAMETERS", { reason, errors: details });
}
