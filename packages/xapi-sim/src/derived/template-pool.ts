import { Database } from "../database.js";
import { generateFleet, type FleetOptions } from "../fleet/generate-fleet.js";
import { Listings, rowJson } from "../listings.js";
import { createRandom } from "../random.js";
import type { FleetObject } from "../xapi-value.js";
import { TemplateClass } from "./template-class.js";

/** How names of the template begin; the digits are the pool's number. */
const NAME_MARK = "p000-";

/** Types whose names contain the pool. */
const named: Readonly<Record<string, readonly string[]>> = {
  pool: ["name_label"],
  host: ["name_label", "hostname"],
  VM: ["name_label"],
  SR: ["name_label"],
};

/** A pool generated and rendered once, for any number of pools to be derived from. */
export class TemplatePool {
  readonly #classes = new Map<string, TemplateClass>();

  constructor(options: FleetOptions) {
    const db = new Database(createRandom(0));
    db.load(templateFleet(options), true);
    const listings = new Listings();
    for (const table of db.tables()) {
      const bytes = listings.json(table) as Buffer;
      const entries = [...table.rows.values()].map((row) => ({
        ref: row.ref,
        uuid: row.record["uuid"] as string | undefined,
        length: rowJson(row).length,
      }));
      this.#classes.set(table.className, new TemplateClass(bytes, entries));
    }
  }

  /** @throws Error for a name that is not a class */
  class(className: string): TemplateClass {
    const found = this.#classes.get(className);
    if (found === undefined) throw new Error(`no class ${className}`);
    return found;
  }

  get classNames(): Iterable<string> {
    return this.#classes.keys();
  }
}

/** The objects of the template: a generated pool with marks in its names and addresses. */
export function* templateFleet(options: FleetOptions): Generator<FleetObject> {
  const addresses = Array.from({ length: options.hosts }, (_, i) =>
    i === 0 ? "127.0.0.1" : `127.100.${i >> 8}.${(i & 255) + 1}`,
  );
  for (const object of generateFleet({ ...options, addresses }))
    yield withMarks(object);
}

function withMarks(object: FleetObject): FleetObject {
  const { className, record } = object;
  if (className === "VM" && record["is_default_template"] === true)
    return object;
  const fields = named[className];
  if (fields === undefined) return object;
  const marked = fields.map(
    (name) => [name, `${NAME_MARK}${record[name] as string}`] as const,
  );
  return { ...object, record: { ...record, ...Object.fromEntries(marked) } };
}
