import { closest } from "fastest-levenshtein";
import { RequestError, usageError } from "../cli-error.js";

export interface Named {
  readonly id: string;
  readonly name: string;
}

/**
 * One of some objects, by its id or its name.
 * @param type for errors: `backup job`
 * @throws RequestError NO_SUCH_OBJECT, with the nearest name
 * @throws CliError USAGE: several have the name
 */
export function findNamed<T extends Named>(
  all: readonly T[],
  text: string,
  type: string,
): T {
  const byId = all.find(({ id }) => id === text);
  const [first, ...others] =
    byId === undefined ? all.filter(({ name }) => name === text) : [byId];
  if (first === undefined) {
    const names = all.map(({ name }) => name);
    throw new RequestError(
      `no such ${type}: ${text}`,
      "NO_SUCH_OBJECT",
      { id: text, type },
      names.length === 0
        ? `there is no ${type}`
        : `the nearest name is ${closest(text, names)}`,
    );
  }
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id);
  throw usageError(
    `${ids.length} objects of type ${type} are named ${JSON.stringify(text)}`,
    `use one of the ids: ${ids.slice(0, 10).join(", ")}`,
  );
}
