import type { ErrorObject } from "ajv";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Replaces the errors of all branches of a union by those of the branch that the
 * value is meant for: the one whose discriminator (a property with constant values,
 * such as `kind`) matches, otherwise the one with the fewest errors.
 * @param errors of a validator with `verbose`
 */
export function chooseBranches(
  errors: readonly ErrorObject[],
): readonly ErrorObject[] {
  // Ajv reports inner unions before outer ones.
  const union = errors.findLast(({ keyword }) => keyword === "anyOf");
  if (union === undefined) return errors;
  const prefix = `${union.schemaPath}/`;
  const inner = errors.filter((one) => isOf(one, union, prefix));
  const others = errors.filter((one) => one !== union && !inner.includes(one));
  return [...chooseBranches(others), ...branchOf(union, inner)];
}

/** Elements of an array have the same schema path, so the instance path is compared too. */
function isOf(one: ErrorObject, union: ErrorObject, prefix: string): boolean {
  return (
    one.schemaPath.startsWith(prefix) &&
    (one.instancePath === union.instancePath ||
      one.instancePath.startsWith(`${union.instancePath}/`))
  );
}

function branchOf(
  union: ErrorObject,
  inner: readonly ErrorObject[],
): readonly ErrorObject[] {
  const branches = union.schema as readonly Schema[];
  const of = (index: number) =>
    inner.filter(({ schemaPath }) =>
      schemaPath.startsWith(`${union.schemaPath}/${index}/`),
    );
  const named = discriminatorOf(branches);
  if (named !== undefined && isObject(union.data))
    return byDiscriminator(union, { branches, named, of });
  const types = branches.map(({ type }) => type);
  if (branches.every(({ type }) => typeof type === "string"))
    if (!types.includes(typeOf(union.data)))
      return [{ ...union, keyword: "type", params: { type: distinct(types) } }];
  return [...branches.keys()]
    .map((index) => chooseBranches(of(index)))
    .reduce((best, one) => (one.length < best.length ? one : best));
}

interface Discriminated {
  readonly branches: readonly Schema[];
  readonly named: string;
  readonly of: (index: number) => readonly ErrorObject[];
}

function byDiscriminator(
  union: ErrorObject,
  { branches, named, of }: Discriminated,
): readonly ErrorObject[] {
  const data = union.data as Readonly<Record<string, unknown>>;
  const value = data[named];
  const index = branches.findIndex((one) =>
    constantsOf(one, named)?.includes(value),
  );
  if (index >= 0) return chooseBranches(of(index));
  return [
    {
      ...union,
      keyword: "enum",
      instancePath: `${union.instancePath}/${named}`,
      params: {
        allowedValues: distinct(
          branches.flatMap((one) => constantsOf(one, named) ?? []),
        ),
      },
      data: value,
    },
  ];
}

/** A property that has constant values in every branch. */
function discriminatorOf(branches: readonly Schema[]): string | undefined {
  const [first] = branches;
  return Object.keys(first?.["properties"] ?? {}).find((name) =>
    branches.every((one) => constantsOf(one, name) !== undefined),
  );
}

function constantsOf(
  { properties }: Schema,
  name: string,
): readonly unknown[] | undefined {
  const schema = ((properties ?? {}) as Record<string, Schema>)[name];
  if (schema === undefined) return undefined;
  if (schema["const"] !== undefined) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return typeof value === "number" && Number.isInteger(value)
    ? "integer"
    : typeof value;
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
