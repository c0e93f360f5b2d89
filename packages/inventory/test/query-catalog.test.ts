import { createCatalog, createQueries } from "@xo-server/inventory";
import t from "tap";
import { views } from "../src/views/views.js";
import { flushed } from "./catalog-pool.js";
import { FakePool } from "./fake-pool.js";
import { canonical, type FakeObject } from "./fake-view-table.js";
import { LiveCopy } from "./live-copy.js";
import { mirror } from "./mirror-pool.js";
import { select } from "./naive-query.js";
import { Random } from "./seeded-random.js";
import { until } from "./until.js";

const seed = Number(process.env["SEED"] ?? 1 + Math.floor(Math.random() * 1e9));

function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

function vm(number: number, random: Random) {
  return {
    uuid: uuid(number),
    name_label: `vm${random.below(20)}`,
    name_description: "",
    power_state: random.pick(["Running", "Halted"]),
    memory_static_max: String(random.below(5) * 2 ** 30),
    memory_dynamic_max: String(random.below(5) * 2 ** 30),
    tags: ["a", "b"].filter(() => random.below(2) === 0),
    is_a_template: random.below(10) === 0,
    resident_on: "OpaqueRef:host",
    other_config: {},
  };
}

const selections = [
  { type: "VM" },
  { type: "VM", filter: "power_state:running", sort: [{ by: "memory.size" }] },
  { type: "VM", filter: "tags:a", search: "vm1" },
  { type: "VM-template", sort: [{ by: "id", descending: true }] },
];

t.test(
  `live copies of a mirrored pool equal the catalog (SEED=${seed})`,
  async (t) => {
    const random = new Random(seed);
    const pool = new FakePool(["pool", "host", "VM"]);
    pool.batchSize = 50;
    pool.put("pool", "OpaqueRef:pool", { uuid: uuid(1), name_label: "pool" });
    pool.put("host", "OpaqueRef:host", { uuid: uuid(2), name_label: "host" });
    const put = (number: number) => {
      pool.put("VM", `OpaqueRef:${number}`, vm(number, random));
    };
    for (let i = 10; i < 300; i++) put(i);
    const { inventory, clock, handle, poll } = await mirror(pool);
    const catalog = createCatalog(inventory, { clock, viewCacheBytes: 20_000 });
    const queries = createQueries(catalog, { clock });
    const copies = await Promise.all(
      [...selections, ...selections].map(async (selection, i) => {
        const copy = new LiveCopy();
        const fields =
          i % 2 === 0 ? {} : { fields: ["id", "name_label", "memory"] };
        const place = { offset: i, limit: 40 };
        await queries.live(
          { ...selection, ...place, ...fields },
          copy.listener,
        );
        return { copy, selection, ...place, ...fields };
      }),
    );
    const table = catalog.tables.get("VM")!;
    t.ok(queries.stats.columns > 3);
    const observed = new Map<number, FakeObject>();
    for (let row = 0; row < table.rows; row++)
      if (table.isLive(row)) observed.set(row, table.object(row) as FakeObject);
    table.observe({
      rowSet: (row, object) => observed.set(row, object.object() as FakeObject),
      rowRemoved: (row) => observed.delete(row),
      flushed: () => undefined,
    });
    /** Windows pass until nothing comes any more. */
    const settle = async () => {
      for (let quiet = 0; quiet < 5; quiet++) {
        const { revision } = catalog.feed;
        clock.advance(50);
        for (let i = 0; i < 3; i++) await table.run(nothing());
        if (catalog.feed.revision !== revision) quiet = 0;
        // At any time a copy is what its last update says.
        for (const { copy } of copies)
          if (copy.digest !== copy.last.digest)
            t.equal(copy.digest, copy.last.digest, `digest ${seed}`);
      }
    };
    for (let turn = 0; turn < 25; turn++) {
      for (let i = random.below(60); i > 0; i--) {
        const number = 10 + random.below(350);
        if (random.below(4) === 0) pool.delete("VM", `OpaqueRef:${number}`);
        else put(number);
      }
      await poll();
      await settle();
      const objects = [...observed.values()];
      for (const { copy, selection, offset, limit } of copies) {
        const naive = select(objects, selection, ["name_label"]);
        const about = `turn ${turn} ${JSON.stringify(selection)} from ${offset}`;
        const seen = naive.slice(offset, offset + limit).map(({ id }) => id);
        if (canonical(copy.ids) !== canonical(seen))
          t.same(copy.ids, seen, about);
        if (copy.digest !== copy.last.digest)
          t.equal(copy.digest, copy.last.digest, `digest ${about}`);
        if (copy.total !== naive.length)
          t.equal(copy.total, naive.length, about);
      }
    }
    const { revision } = await queries.page({ type: "VM" });
    t.equal(revision, catalog.feed.revision);
    queries.stop();
    catalog.stop();
    await handle.stop();
    await until(() => true);
  },
);

for (const toRef of [
  (name: string) => `OpaqueRef:${name}`,
  (name: string) => `OpaqueRef:${uuid(name.length)}`,
])
  t.test(
    `a query follows records that its properties are read from (${toRef("vm")})`,
    async (t) => {
      const pool = new FakePool(["pool", "VM", "VM_guest_metrics"]);
      const address = (ip: string) => {
        const networks = { "0/ip": ip };
        pool.put("VM_guest_metrics", toRef("guest"), { uuid: "g", networks });
      };
      address("10.0.0.1");
      const guest = { guest_metrics: toRef("guest") };
      const put = (name_label: string) => {
        const own = {
          ...vm(10, new Random(1)),
          ...guest,
          is_a_template: false,
        };
        pool.put("VM", toRef("vm"), { ...own, name_label });
      };
      put("a");
      const { inventory, clock, handle, poll } = await mirror(pool);
      const catalog = createCatalog(inventory, { clock });
      const queries = createQueries(catalog, { clock });
      const update = async (change: () => void) => {
        change();
        await poll();
        await flushed(inventory, clock);
      };
      const has = async (ip: string) =>
        (await queries.count({ type: "VM", filter: `mainIpAddress:${ip}` })) >
        0;
      t.ok(await has("10.0.0.1"));
      await update(() => {
        address("10.0.0.2");
      });
      t.ok(await has("10.0.0.2"), "after the column was filled");
      await update(() => {
        put("b");
      });
      await update(() => {
        address("10.0.0.3");
      });
      t.ok(await has("10.0.0.3"), "after a change of the VM itself");
      t.same(await has("10.0.0.2"), false);
      queries.stop();
      catalog.stop();
      await handle.stop();
    },
  );

t.test(
  "filters and sorts build no object where a property can be read alone, or is one that the class lacks",
  async (t) => {
    const pool = new FakePool(["pool", "VM", "message"]);
    const random = new Random(2);
    for (let i = 10; i < 20; i++) {
      pool.put("VM", `OpaqueRef:${i}`, {
        ...vm(i, random),
        is_a_template: false,
        blocked_operations: i === 12 ? { migrate_send: "backup" } : {},
      });
      pool.put("message", `OpaqueRef:m${i}`, { uuid: uuid(i), name: `m${i}` });
    }
    const { inventory, clock, handle } = await mirror(pool);
    const built: string[] = [];
    const counted = views.map((view) => ({
      ...view,
      build: (source: Parameters<typeof view.build>[0]) => {
        built.push(`${view.className}/${source.ref}`);
        return view.build(source);
      },
    }));
    const catalog = createCatalog(inventory, { clock, views: counted });
    const queries = createQueries(catalog, { clock });
    const count = (type: string, filter: string) =>
      queries.count({ type, filter });
    t.equal(await count("VM", "blockedOperations.migrate_send:backup"), 1);
    t.equal(await count("message", "name:m12"), 1);
    t.same(built, []);
    queries.stop();
    catalog.stop();
    await handle.stop();
  },
);

function* nothing() {
  yield;
}
