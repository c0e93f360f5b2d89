import {
  compileFilter,
  createCatalog,
  createObjectFilter,
  parseFilter,
  type Catalog,
  type Inventory,
  type Predicate,
  type ViewObject,
  type ViewTable,
} from "@xo-server/inventory";
import t from "tap";
import { FakePool } from "./fake-pool.js";
import { samplePool } from "./fixtures/sample-pool.js";
import { mirror } from "./mirror-pool.js";

async function inventoryOfSample() {
  const pool = new FakePool(Object.keys(samplePool));
  for (const [className, records] of Object.entries(samplePool))
    for (const [ref, record] of Object.entries(records))
      pool.put(className, ref, record);
  return mirror(pool);
}

/** A catalog whose tables have all rows, and no object that has been built. */
async function tablesOf(inventory: Inventory) {
  const catalog = createCatalog(inventory);
  const classes = new Set(catalog.types.map((type) => catalog.classOf(type)!));
  const tables: ViewTable[] = [];
  for (const className of classes) tables.push(await catalog.follow(className));
  return { catalog, tables };
}

function rowsOf(table: ViewTable): number[] {
  return Array.from({ length: table.rows }, (_, row) => row).filter((row) =>
    table.isLive(row),
  );
}

function matching(tables: readonly ViewTable[], test: Predicate): string[] {
  return tables.flatMap((table) =>
    rowsOf(table)
      .filter((row) => table.matches(row, test))
      .map((row) => table.id(row)),
  );
}

const built = ({ stats }: Catalog) => stats.cache.objects;

t.test(
  "a filter matches the same objects, whether they have been built or not",
  async (t) => {
    const { inventory, handle } = await inventoryOfSample();
    const read = await tablesOf(inventory);
    const objects = read.tables.flatMap((table) =>
      rowsOf(table).map(
        (row) => JSON.parse(table.json(row).toString()) as ViewObject,
      ),
    );
    /** For each property, the value of the first object that has it. */
    const patterns = new Map<string, object>();
    for (const object of objects)
      for (const [name, value] of Object.entries(object))
        if (!patterns.has(name)) patterns.set(name, { [name]: value });
    let matches = 0;
    let unread = await tablesOf(inventory);
    for (const pattern of patterns.values()) {
      const test = createObjectFilter(pattern);
      if (built(unread.catalog) > 0) {
        unread.catalog.stop();
        unread = await tablesOf(inventory);
      }
      const found = matching(unread.tables, test);
      const expected = objects.filter(test).map(({ id }) => id as string);
      const text = JSON.stringify(pattern);
      if (found.join() !== expected.join()) t.same(found, expected, text);
      if (matching(read.tables, test).join() !== expected.join())
        t.fail(`${text}, of objects that have been built`);
      matches += found.length;
    }
    t.ok(matches > patterns.size, `${patterns.size} patterns`);
    unread.catalog.stop();
    read.catalog.stop();
    await handle.stop();
  },
);

t.test("no object is built to be compared by usual properties", async (t) => {
  const { inventory, handle } = await inventoryOfSample();
  const { catalog, tables: all } = await tablesOf(inventory);
  const usual = ["VM", "VDI", "SR", "host", "network", "VBD"];
  const tables = all.filter(({ className }) => usual.includes(className));
  for (const filter of [
    "name_label:a",
    "power_state:Running tags:x",
    "id:a uuid:b",
    "|($pool:c memory.size:>1)",
  ])
    matching(tables, compileFilter(parseFilter(filter)));
  const names = ["id", "uuid", "type", "$pool", "$poolId", "_xapiRef"];
  for (const name of [...names, "name_label"])
    matching(tables, createObjectFilter({ [name]: "a" }));
  t.equal(built(catalog), 0);
  matching(tables, compileFilter(parseFilter("any text")));
  t.ok(built(catalog) > 0, "a text may be in any property");
  catalog.stop();
  await handle.stop();
});
