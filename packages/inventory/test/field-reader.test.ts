import { createCatalog } from "@xo-server/inventory";
import { columnsOf } from "@xo-server/model";
import t from "tap";
import { views } from "../src/views/views.js";
import { FakePool } from "./fake-pool.js";
import { samplePool } from "./fixtures/sample-pool.js";
import { mirror } from "./mirror-pool.js";

const uuid = (number: number) =>
  `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const ref = (number: number) => `OpaqueRef:${uuid(number)}`;

const NAMES = ["plain", "", 'a "quoted" \\ name', "Ünïcode ✓", "\n"];
/** References to guest metrics: of a record, of none, and no references. */
const GUESTS = [ref(90), "OpaqueRef:guest", ref(99), "OpaqueRef:NULL", "", 7];

/** VMs with odd names and references, those of the last ones absent. */
function oddPool(): FakePool {
  const pool = new FakePool(["pool", "VM", "VM_guest_metrics", "VM_metrics"]);
  pool.put("pool", ref(1), { uuid: uuid(1), name_label: "p" });
  for (const guest of [ref(90), "OpaqueRef:guest"])
    pool.put("VM_guest_metrics", guest, {
      uuid: uuid(90),
      networks: { "0/ip": "10.0.0.1", "1/ipv6/0": "fe80::1" },
      os_version: { name: "Debian \u00e9", major: "13" },
      memory: { used: "10", total: "4096" },
    });
  pool.put("VM_metrics", ref(80), {
    uuid: uuid(80),
    memory_actual: "2048",
    start_time: "20260101T00:00:00Z",
  });
  let number = 100;
  for (const guest_metrics of GUESTS)
    for (const name_label of NAMES)
      for (const power_state of ["Running", "Halted"]) {
        const own = {
          guest_metrics,
          metrics: ref(80),
          name_label,
          power_state,
        };
        number++;
        const isUsual = number % 2 === 0;
        pool.put("VM", isUsual ? ref(number) : `OpaqueRef:${number}`, {
          uuid: uuid(number),
          tags: [name_label],
          memory_dynamic_max: "1024",
          ...own,
        });
      }
  pool.put("VM", ref(98), { uuid: uuid(98) });
  return pool;
}

function pathsWithFields(className: string) {
  const { properties } = views.find((view) => view.className === className)!;
  return Object.entries(properties ?? {})
    .filter(([, { from }]) => from !== undefined)
    .map(([name]) => name.split("."));
}

t.test("fields that properties are read from are reported", async (t) => {
  for (const { className, properties } of views)
    for (const [name, { from }] of Object.entries(properties ?? {}))
      for (const field of from?.fields ?? []) {
        const { link } = field;
        const reported = columnsOf(link?.className ?? className);
        t.ok(reported.includes(field.name), `${className}.${name}`);
        if (link !== undefined)
          t.ok(columnsOf(className).includes(link.field), link.field);
      }
});

t.test(
  "properties that are read from reported fields are those of the object",
  async (t) => {
    const sample = new FakePool(Object.keys(samplePool));
    for (const [className, records] of Object.entries(samplePool))
      for (const [key, record] of Object.entries(records))
        sample.put(className, key, record);
    let values = 0;
    for (const pool of [sample, oddPool()]) {
      const { inventory, handle } = await mirror(pool);
      const catalog = createCatalog(inventory);
      for (const { className } of views) {
        const table = await catalog.follow(className);
        const paths = pathsWithFields(className);
        for (let row = 0; row < table.rows; row++) {
          if (!table.isLive(row)) continue;
          const read: unknown[] = [];
          table.readRow(row, (object) => {
            read.push(...paths.map((path) => object.value(path)));
            // Another property is read in between, as those of lists are.
            object.value(["current_operations"]);
            read.push(...paths.map((path) => object.value(path)));
          });
          const object = table.object(row);
          const expected = paths.map((path) =>
            path.reduce<unknown>(
              (value, name) => (value as Record<string, unknown>)?.[name],
              object,
            ),
          );
          values += paths.length;
          t.same(read, [...expected, ...expected], `${className} ${row}`);
        }
      }
      catalog.stop();
      await handle.stop();
    }
    t.ok(values > 500, `${values} values`);
  },
);
