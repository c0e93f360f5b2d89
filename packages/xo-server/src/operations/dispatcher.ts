import { XapiError, XoError } from "@xo-server/model";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { Logger } from "../log/logger.js";
import { isAllowed, type CallContext, type Operation } from "./operation.js";

/** The one place where a call is checked, made, and its failure given a name. */
export interface Dispatcher {
  /**
   * @param params an object; undefined, null and [] mean no parameters
   * @throws XoError or XapiError, nothing else
   */
  call(name: string, params: unknown, context: CallContext): Promise<unknown>;
}

interface Entry {
  readonly operation: Operation;
  readonly validate: ValidateFunction;
}

export function createDispatcher(
  operations: readonly Operation[],
  logger: Logger,
): Dispatcher {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    // Checking the schemas themselves would cost 50 ms of each start; the tests do.
    validateSchema: false,
  });
  const entries = new Map<string, Entry>(
    operations.map((operation) => [
      operation.name,
      { operation, validate: ajv.compile(operation.params) },
    ]),
  );
  return {
    async call(name, params, context) {
      const entry = entries.get(name);
      if (entry === undefined)
        throw new XoError("UNKNOWN_METHOD", { method: name });
      const { permission, handler } = entry.operation;
      if (!isAllowed(context.permission, permission))
        throw new XoError("FORBIDDEN", { permission });
      const checked = check(entry, params);
      try {
        // A method without a result answers true: clients decode it into a boolean.
        return (await handler(checked as never, context)) ?? true;
      } catch (error) {
        throw toKnownError(error, name, logger);
      }
    },
  };
}

/** @throws XoError INVALID_PARAMETERS */
function check({ operation, validate }: Entry, given: unknown): object {
  const params = toObject(given);
  const known = Object.keys(operation.params.properties);
  // Some clients send a dummy to methods that take nothing.
  if (known.length === 0) return {};
  const cleaned = applyQuestionMarks(params, known);
  if (validate(cleaned)) return cleaned;
  throw invalid(validate.errors ?? []);
}

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
function applyQuestionMarks(params: object, known: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(params)
      .filter(([key]) => !key.endsWith("?") || known.includes(key.slice(0, -1)))
      .map(([key, value]) => [key.replace(/\?$/, ""), value as unknown]),
  );
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

function toKnownError(error: unknown, name: string, logger: Logger): Error {
  if (error instanceof XoError || error instanceof XapiError) return error;
  // What nobody foresaw may tell things that a caller must not know.
  logger.error(`${name} failed`, { error });
  return new XoError(
    "INTERNAL",
    { reason: "the server's log tells more" },
    error,
  );
}
