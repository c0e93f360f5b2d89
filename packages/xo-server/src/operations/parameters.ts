import { XoError } from "@xo-server/model";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { Operation } from "./operation.js";

/**
 * Checks parameters against the schema, and adds defaults.
 * @throws XoError INVALID_PARAMETERS
 */
export type CheckParameters = (given: unknown) => object;

export function createCheck(
  ajv: Ajv,
  { name, params }: Pick<Operation, "name" | "params">,
): CheckParameters {
  const known = Object.keys(params.properties);
  const isOpen = Reflect.get(params, "additionalProperties") === true;
  // At the first call: compiling those of all operations would hold each start for 200 ms.
  let validate: ValidateFunction | undefined;
  return (given) => {
    validate ??= ajv.compile({ additionalProperties: false, ...params });
    const told = toObject(given);
    // Some clients send a dummy to methods that take nothing.
    if (known.length === 0 && !isOpen) return {};
    const cleaned = readAlias(readQuestionMarks(told, known), known, name);
    if (validate(cleaned)) return cleaned;
    throw invalid(validate.errors ?? []);
  };
}

type Members = Record<string, unknown>;

function toObject(given: unknown): object {
  if (given === undefined || given === null) return {};
  if (Array.isArray(given) && given.length === 0) return {};
  if (typeof given === "object" && !Array.isArray(given)) return given;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "params must be an object",
    errors: [],
  });
}

/** `"foo?"` is read as `foo` where that is known, and dropped where it is not. */
function readQuestionMarks(given: object, known: readonly string[]): Members {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([key]) => !key.endsWith("?") || known.includes(key.slice(0, -1)))
      .map(([key, value]) => [key.replace(/\?$/, ""), value as unknown]),
  );
}

/** `vm.start vm=X` is read as `id=X`. */
function readAlias(
  given: Members,
  known: readonly string[],
  method: string,
): Members {
  const noun = method.split(".")[0]!;
  if (!known.includes("id") || known.includes(noun)) return given;
  if (Object.hasOwn(given, "id") || !Object.hasOwn(given, noun)) return given;
  const { [noun]: id, ...others } = given;
  return { ...others, id };
}

function invalid(errors: readonly ErrorObject[]): XoError {
  const told = errors.map(
    ({ instancePath, schemaPath, keyword, params, message }) => ({
      instancePath,
      schemaPath,
      keyword,
      params: params as unknown,
      message,
    }),
  );
  const reason = told
    .map(({ instancePath, message }) => `${instancePath} ${message}`.trim())
    .join("; ");
  return new XoError("INVALID_PARAMETERS", { reason, errors: told });
}
