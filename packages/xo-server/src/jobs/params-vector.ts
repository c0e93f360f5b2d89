import { XoError } from "@xo-server/model";

export type Params = Readonly<Record<string, unknown>>;

/** Objects that match, as they are now. */
export type FetchObjects = (about: {
  readonly pattern?: object;
  readonly filter?: string;
}) => Promise<readonly Params[]>;

/** Calls of one run at most. */
export const MOST_CALLS = 10_000;
const DEEPEST = 16;

/**
 * The parameters of each call: clients describe them in the terms of Xen
 * Orchestra's jobs. Resolved when the job is done, so that objects are those
 * of then.
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
      throw invalid(`a vector is no deeper than ${DEEPEST} levels`);
    const given = toParams(vector, "a vector");
    switch (given["type"]) {
      case "set":
        return bounded(
          toList(given["values"], "values").map((one) =>
            toParams(one, "a value"),
          ),
        );
      case "crossProduct":
        return this.#crossProduct(given, depth);
      case "map":
        return this.#map(given, depth);
      case "fetchObjects":
        return this.#fetch(given);
      case "extractProperties":
        return [extractProperties(given)];
      default:
        throw invalid(`there is no vector ${String(given["type"])}`);
    }
  }

  async #crossProduct(given: Params, depth: number): Promise<Params[]> {
    let product: Params[] = [{}];
    for (const item of toList(given["items"], "items")) {
      const values = await this.resolve(item, depth + 1);
      if (product.length * values.length > MOST_CALLS) throw tooMany();
      product = product.flatMap((one) =>
        values.map((value) => ({ ...one, ...value })),
      );
    }
    return product;
  }

  /** The iteratee of each member: it gets the member as `paramName`, `value` by default. */
  async #map(given: Params, depth: number): Promise<readonly Params[]> {
    const { iteratee, paramName = "value" } = given;
    if (typeof paramName !== "string") throw invalid("paramName is no text");
    const collection = await this.resolve(given["collection"], depth + 1);
    const all: Params[] = [];
    for (const member of collection) {
      const named = Object.fromEntries([[paramName, member]]);
      const one = { ...toParams(iteratee, "an iteratee"), ...named };
      for (const params of await this.resolve(one, depth + 1)) {
        all.push(params);
        if (all.length > MOST_CALLS) throw tooMany();
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

/** Members of the value by the names that the operation has for them. */
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
  throw invalid(`${what} is no object`);
}

function toList(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(`${what} is no list`);
}

function bounded(all: readonly Params[]): readonly Params[] {
  if (all.length > MOST_CALLS) throw tooMany();
  return all;
}

function tooMany(): XoError {
  return invalid(`a run has no more than ${MOST_CALLS} calls`);
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
