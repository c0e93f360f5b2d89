import { XoError } from "@xo-server/model";
import type { Operation } from "../../../operations/operation.js";
import type { RestRoute } from "../../../operations/rest-route.js";
import { invalidInput, type InputFault } from "../../errors/invalid-input.js";
import {
  toBoolean,
  toNumber,
  type QueryValues,
} from "../routing/query-values.js";

interface RequestInput {
  readonly path: QueryValues;
  readonly query: QueryValues;
  readonly body: unknown;
}

type RoutedOperation = Pick<Operation, "params"> & { readonly rest: RestRoute };

type Member = readonly [name: string, value: unknown];

/** Names of the parameters in braces. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/**
 * Parameters of an operation from path, query and body; the path takes precedence.
 * The dispatcher validates them.
 * @throws XoError INVALID_PARAMETERS
 */
export function collectParameters(
  { params, rest }: RoutedOperation,
  { path, query, body }: RequestInput,
): object {
  const schemas = params.properties as Readonly<Record<string, unknown>>;
  const fromText = (values: QueryValues) =>
    Object.entries(values)
      .filter(([name]) => Object.hasOwn(schemas, name))
      .map(([name, value]): Member => [
        name,
        toValue(name, value, schemas[name]),
      ]);
  const fromBody = Object.entries(toMembers(body)).map(
    ([key, value]): Member => [parameterOf(rest, key), value],
  );
  return Object.fromEntries([
    ...fromText(query),
    ...fromBody,
    ...fromText(path),
    ...Object.entries(rest.params ?? {}),
  ]);
}

/** Rejects parameters whose name in the body is another one, or whose value is fixed. */
function parameterOf(
  { body = {}, params = {} }: RestRoute,
  key: string,
): string {
  if (Object.hasOwn(body, key)) return body[key]!;
  if (Object.hasOwn(params, key) || Object.values(body).includes(key))
    throw invalidInput({ [`body.${key}`]: excessProperty(key) });
  return key;
}

function excessProperty(name: string): InputFault {
  return {
    message: `"${name}" is an excess property and therefore is not allowed`,
  };
}

function toMembers(body: unknown): object {
  if (body === undefined) return {};
  if (typeof body === "object" && body !== null && !Array.isArray(body))
    return body;
  throw invalidInput({ body: { message: "not an object" } });
}

function toValue(name: string, value: unknown, schema: unknown): unknown {
  const { type, anyOf } = schema as Schema;
  if (type === "array")
    return Array.isArray(value) ? (value as unknown[]) : [value];
  if (typeof value !== "string")
    throw invalidInput({
      [name]: { message: "specified more than once", value },
    });
  if (type === "boolean") return toBoolean(name, value);
  if (/^(true|false)$/i.test(value) && anyOf?.some(isBoolean))
    return toBoolean(name, value);
  return type === "number" || type === "integer"
    ? toNumber(name, value)
    : value;
}

interface Schema {
  readonly type?: unknown;
  readonly anyOf?: readonly Schema[];
}

function isBoolean({ type }: Schema): boolean {
  return type === "boolean";
}

interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  /** Parameters of the validation keyword; absent in errors that handlers throw. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Converts validation errors of the dispatcher: names and locations as in the request. */
export function toInputError(
  error: unknown,
  { rest }: RoutedOperation,
  query: QueryValues,
): unknown {
  if (!(error instanceof XoError) || error.code !== "INVALID_PARAMETERS")
    return error;
  const errors = error.data["errors"] as readonly SchemaError[] | undefined;
  if (error.data["faults"] !== undefined || !errors?.length) return error;
  const outside = new Set([...pathNames(rest.path), ...Object.keys(query)]);
  const keys = new Map(
    Object.entries(rest.body ?? {}).map(([key, name]) => [name, key]),
  );
  return invalidInput(
    Object.fromEntries(
      errors.map((one) => {
        const name = nameOf(one);
        const isOutside = outside.has(name) || rest.method === "get";
        const where = isOutside ? name : `body.${keys.get(name) ?? name}`;
        return [where, toFault(one, name)];
      }),
    ),
  );
}

function nameOf({ instancePath, params = {} }: SchemaError): string {
  const own = params["additionalProperty"] ?? params["missingProperty"];
  const parts = instancePath.split("/").slice(1);
  return [...parts, ...(typeof own === "string" ? [own] : [])].join(".");
}

function toFault({ keyword, message }: SchemaError, name: string): InputFault {
  switch (keyword) {
    case "additionalProperties":
      return excessProperty(name);
    case "required":
      return { message: `'${name}' is required` };
    default:
      return { message: message ?? "invalid" };
  }
}
