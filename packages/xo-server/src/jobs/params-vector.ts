import { XoError } from "@xo-server/model";

export type Params = Readonly<Record<string, unknown>>;

/** Returns the objects that match now. */
type FetchObjects = (about: {
  readonly pattern?: object;
  readonly filter?: string;
}) => Promise<readonly Params[]>;

/** Maximum number of calls per run. */
export const MAX_CALLS = 10_000;
const DEEPEST = 16;

/**
 * Resolves the parameters of each call from a vector in the format of Xen
 * Orchestra's jobs, at the time of the run, so that objects are current.
 * @throws XoError INVALID_PARAMETERS
 */
export async function resolveVector(
  vector: unknown,
  fetchObjects: FetchObjects,
): Promise<readonly Params[]> {
  return new Resolver(fetchObjects).resolve(vector, 0);
}

class Resolver {
  readonly #fetchObjects: FetchObjects;

  constructor(fetchObjects: FetchObjects) {
    this.#fetchObjects = fetchObjects;
  }

  async resolve(vector: unknown, depth: number): Promise<readonly Params[]> {
    if (depth > DEEPEST)
      throw invalid(`a vector must not be deeper than ${DEEPEST} levels`);
    const input = toParams(vector, "a vector");
    switch (input["type"]) {
      case "set":
        return bounded(
          toList(input["values"], "values").map((one) =>
            toParams(one, "a value"),
          ),
        );
      case "crossProduct":
        return this.#crossProduct(input, depth);
      case "map":
        return this.#map(input, depth);
      case "fetchObjects":
        return this.#fetch(input);
      case "extractProperties":
        return [extractProperties(input)];
      default:
        throw invalid(`unknown vector type: ${String(input["type"])}`);
    }
  }

  async #crossProduct(input: Params, depth: number): Promise<Params[]> {
    let product: Params[] = [{}];
    for (const item of toList(input["items"], "items")) {
      const values = await this.resolve(item, depth + 1);
      if (product.length * values.length > MAX_CALLS) throw tooMany();
      product = product.flatMap((one) =>
        values.map((value) => ({ ...one, ...value })),
      );
    }
    return product;
  }

  /** Calls the iteratee for each member, which it gets as `paramName`, by default `value`. */
  async #map(input: Params, depth: number): Promise<readonly Params[]> {
    const { iteratee, paramName = "value" } = input;
    if (typeof paramName !== "string")
      throw invalid("paramName must be a string");
    const collection = await this.resolve(input["collection"], depth + 1);
    const all: Params[] = [];
    for (const member of collection) {
      const named = Object.fromEntries([[paramName, member]]);
      const one = { ...toParams(iteratee, "an iteratee"), ...named };
      for (const params of await this.resolve(one, depth + 1)) {
        all.push(params);
        if (all.length > MAX_CALLS) throw tooMany();
      }
    }
    return all;
  }

  async #fetch({ pattern, filter }: Params): Promise<readonly Params[]> {
    const found = await this.#fetchObjects({
      ...(pattern === undefined
        ? {}
        : { pattern: toParams(pattern, "pattern") }),
      ...(typeof filter === "string" ? { filter } : {}),
    });
    if (found.length > 0) return bounded(found);
    throw invalid("no object matches the pattern");
  }
}

/** Members of the value, renamed to the parameters of the operation. */
function extractProperties({ mapping, value }: Params): Params {
  const source = toParams(value, "a value");
  return Object.fromEntries(
    Object.entries(toParams(mapping, "a mapping")).map(([name, property]) => [
      name,
      typeof property === "string" && Object.hasOwn(source, property)
        ? source[property]
        : undefined,
    ]),
  );
}

function toParams(value: unknown, what: string): Params {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Params;
  throw invalid(`${what} must be an object`);
}

function toList(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(`${what} must be an array`);
}

function bounded(all: readonly Params[]): readonly Params[] {
  if (all.length > MAX_CALLS) throw tooMany();
  return all;
}

function tooMany(): XoError {
  return invalid(`a run has at most ${MAX_CALLS} calls`);
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
