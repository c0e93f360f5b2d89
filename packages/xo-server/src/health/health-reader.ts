import type { WallClock } from "@xo-server/kit";
import type {
  Inventory,
  Queries,
  Steps,
  ViewObject,
} from "@xo-server/inventory";
import type { Readable } from "../objects/readable.js";
import type { HealthFindings, HealthItem } from "./health-findings.js";
import { MAX_ITEMS } from "./health-findings.js";
import { toColumnTable, type ColumnTable } from "./column-table.js";
import type { HostClocks } from "./host-clocks.js";

export interface HealthSources {
  readonly queries: Pick<Queries, "page" | "columns">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly hostClocks: HostClocks;
  readonly clock: Pick<WallClock, "now">;
}

/** Creates the details of an item from its object. */
type ToDetails = (object: ViewObject) => HealthItem["details"];

interface FilteredItems {
  readonly type: string;
  readonly filter: string;
  /** Fields that `toDetails` reads. */
  readonly fields?: readonly string[];
  readonly toDetails?: ToDetails;
}

/** Reads the objects that checks need: those that the caller may read, of one pool or of all. */
export class HealthReader {
  readonly #sources: HealthSources;
  readonly #readable: Readable;
  readonly #scope: string;

  /** @param pool id; default: all pools */
  constructor(sources: HealthSources, readable: Readable, pool?: string) {
    this.#sources = sources;
    this.#readable = readable;
    this.#scope = pool === undefined ? "" : `$pool:${JSON.stringify(pool)}`;
  }

  /** Seconds since the epoch. */
  get now(): number {
    return Math.floor(this.#sources.clock.now() / 1000);
  }

  get hostClocks(): HostClocks {
    return this.#sources.hostClocks;
  }

  /** All objects that match a filter, as items. */
  async filtered({
    type,
    filter,
    fields = [],
    toDetails,
  }: FilteredItems): Promise<HealthFindings> {
    const found = await this.#page(type, { filter, fields, limit: MAX_ITEMS });
    const items = found.objects.map((object) => toItem(object, toDetails));
    return { total: found.total, items, filter };
  }

  /** Objects with some of their fields; only for types with few objects per pool. */
  async objects(
    type: string,
    fields: readonly string[],
    filter = "",
  ): Promise<readonly ViewObject[]> {
    return (await this.#page(type, { filter, fields })).objects;
  }

  /** Items of these ids, with names for the first `MAX_ITEMS` of them. */
  async named(
    type: string,
    details: ReadonlyMap<string, NonNullable<HealthItem["details"]>>,
  ): Promise<HealthFindings> {
    const ids = [...details.keys()].slice(0, MAX_ITEMS);
    if (ids.length === 0) return { total: 0, items: [] };
    const { objects } = await this.#page(type, { ids });
    const byId = new Map(objects.map((object) => [object["id"], object]));
    const items = ids.map((id) => {
      const of = { details: details.get(id)! };
      const object = byId.get(id);
      return object === undefined
        ? { id, ...of }
        : { ...toItem(object), ...of };
    });
    return { total: details.size, items };
  }

  /** Properties of all objects of a type, as columns. */
  async table(
    type: string,
    paths: readonly string[],
    filter = "",
  ): Promise<ColumnTable> {
    const where = this.#readable(type);
    const answer = await this.#sources.queries.columns({
      type,
      paths,
      filter: this.#scoped(filter),
      ...(where === undefined ? {} : { where }),
    });
    return toColumnTable(answer, (steps) => this.runInSlices(steps));
  }

  runInSlices(steps: Steps): Promise<void> {
    return this.#sources.inventory.runInSlices("health", steps);
  }

  async #page(
    type: string,
    request: {
      readonly filter?: string;
      readonly ids?: readonly string[];
      readonly fields?: readonly string[];
      readonly limit?: number;
    },
  ): Promise<{ total: number; objects: readonly ViewObject[] }> {
    const { filter = "", fields = [] } = request;
    const where = this.#readable(type);
    const page = await this.#sources.queries.page({
      ...request,
      type,
      filter: this.#scoped(filter),
      fields: ["id", "name_label", "$pool", ...fields],
      ...(where === undefined ? {} : { where }),
    });
    const objects: ViewObject[] = [];
    await this.runInSlices(parseRows(page.rows, objects));
    return { total: page.total, objects };
  }

  #scoped(filter: string): string {
    return `${this.#scope} ${filter}`.trim();
  }
}

function* parseRows(rows: readonly Buffer[], into: ViewObject[]): Steps {
  for (const row of rows) {
    into.push(JSON.parse(row.toString()) as ViewObject);
    yield;
  }
}

/** An object of a list of findings. @param toDetails what to show beside its name */
export function toItem(object: ViewObject, toDetails?: ToDetails): HealthItem {
  const { id, name_label, $pool } = object;
  const details = toDetails?.(object);
  return {
    id: String(id),
    ...(typeof name_label === "string" ? { name: name_label } : {}),
    ...(typeof $pool === "string" ? { pool: $pool } : {}),
    ...(details === undefined ? {} : { details }),
  };
}
