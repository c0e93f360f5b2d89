import type { Predicate, Queries } from "@xo-server/inventory";
import type { Readable } from "../objects/readable.js";

/** Aggregates over columns, without parsing objects. */
export class Counts {
  readonly #queries: Pick<Queries, "group">;
  readonly #readable: Readable;
  readonly #filter: string;

  /** @param filter filter that all counted objects must match */
  constructor(
    queries: Pick<Queries, "group">,
    readable: Readable,
    filter = "",
  ) {
    this.#queries = queries;
    this.#readable = readable;
    this.#filter = filter;
  }

  /** Number of objects by the value of a property. */
  async by(
    type: string,
    path: string,
    filter = "",
  ): Promise<ReadonlyMap<unknown, number>> {
    const where: Predicate | undefined = this.#readable(type);
    const groups = await this.#queries.group(
      {
        type,
        filter: `${this.#filter} ${filter}`.trim(),
        ...(where === undefined ? {} : { where }),
      },
      path,
    );
    return new Map(groups.map(({ key, count }) => [key, count]));
  }

  /** Sum of a numeric property. */
  async sum(type: string, path: string, filter = ""): Promise<number> {
    let sum = 0;
    for (const [value, count] of await this.by(type, path, filter))
      if (typeof value === "number") sum += value * count;
    return sum;
  }
}

/** Sum over all groups of `Counts.by`. */
export function total(counts: ReadonlyMap<unknown, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
