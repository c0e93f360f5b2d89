import t from "tap";
import type { FakeObject } from "./fake-view-table.js";
import { create, vm, window } from "./queried-table.js";

t.test("texts are sorted by language; missing ones are last", async (t) => {
  const { queries, table } = create([]);
  const names = ["vm10", "VM2", "vm 1", "Émile", "zoe", "emil", "vm02b", "7"];
  names.forEach((name, i) => table.put(vm(`${i}`, { name_label: name })));
  table.put({ id: "x", type: "VM" });
  table.put(vm("y", { name_label: null }));
  table.flush();
  const by = async (descending: boolean) => {
    const sort = [{ by: "name_label", descending }];
    const { rows } = await queries.page({
      type: "VM",
      sort,
      fields: ["name_label"],
    });
    return rows.map(
      (row) => (JSON.parse(row.toString()) as FakeObject)["name_label"],
    );
  };
  const order = ["7", "emil", "Émile", "vm 1", "VM2", "vm02b", "vm10", "zoe"];
  t.same(await by(false), [...order, undefined, null]);
  t.same(await by(true), [...order.toReversed(), undefined, null]);
});

t.test("the same values sort by the next key, and by id at last", async (t) => {
  const { table, sorted } = create([]);
  for (const [i, id] of ["d", "a", "c", "b"].entries())
    table.put(vm(id, { name_label: i % 2 ? "VM" : "vm", size: i < 2 ? 1 : 2 }));
  table.flush();
  t.same(await sorted({ by: "name_label" }), ["a", "b", "c", "d"]);
  t.same(await sorted({ by: "name_label" }, { by: "size", descending: true }), [
    "b",
    "c",
    "a",
    "d",
  ]);
});

t.test(
  "pages stay consistent while objects are added and removed",
  async (t) => {
    const { queries, table } = create(["a", "b", "c", "d", "e"]);
    const first = await queries.page({ type: "VM", limit: 2 });
    t.match(first, { ids: ["a", "b"], total: 5, revision: 5 });
    table.remove("b");
    table.put(vm("aa"));
    table.put(vm("ca"));
    table.flush();
    const second = await queries.page({
      type: "VM",
      limit: 2,
      after: first.next!,
    });
    t.same(second.ids, ["c", "ca"]);
    const other = create(["bb", "cb", "f"]);
    const elsewhere = await other.queries.page({
      type: "VM",
      after: second.next!,
    });
    t.same(elsewhere.ids, ["cb", "f"], "in another process as well");
    t.equal(elsewhere.next, undefined);
  },
);

t.test("a page of whole objects has the table's own bytes", async (t) => {
  const { queries, table } = create(["a"]);
  const { rows } = await queries.page({ type: "VM" });
  t.equal(rows[0], table.json(table.findId("a")));
});

t.test("invalid cursors are refused", async (t) => {
  const { queries } = create(["a", "b"]);
  const { next } = await queries.page({ type: "VM", limit: 1 });
  const text = (value: unknown) =>
    Buffer.from(JSON.stringify(value)).toString("base64url");
  const wrong = [
    "",
    "x",
    text({}),
    text([]),
    text(["m", [{}], "a"]),
    "a".repeat(20_000),
  ];
  for (const after of wrong)
    await t.rejects(queries.page({ type: "VM", after }), {
      code: "INVALID_PARAMETERS",
    });
  const sort = [{ by: "power_state" }];
  await t.rejects(queries.page({ type: "VM", sort, after: next! }), {
    code: "INVALID_PARAMETERS",
    message: /another order/,
  });
});

t.test("wrong questions get typed errors", async (t) => {
  const { queries } = create(["a"]);
  const code = "INVALID_PARAMETERS";
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => `f${i}`);
  await t.rejects(queries.page({ type: "nothing" }), { code });
  await t.rejects(queries.count({ type: "VM", filter: "(" }), {
    code: "FILTER_INVALID",
  });
  const sort = many(9).map((by) => ({ by }));
  await t.rejects(queries.page({ type: "VM", sort }), { code });
  await t.rejects(queries.page({ type: "VM", fields: many(257) }), { code });
  await t.rejects(queries.page({ type: "VM", limit: 0.5 }), { code });
  await t.rejects(queries.page({ type: "VM", search: many(17).join(" ") }), {
    code,
  });
  await t.rejects(queries.group({ type: "VM" }, "a.".repeat(9)), { code });
  const live = (more: object) =>
    queries.live({ ...window, ...more }, () => undefined);
  await t.rejects(live({ limit: 10_001 }), { code });
  await t.rejects(live({ offset: -1 }), { code });
  await t.rejects(
    live({
      filter: many(65)
        .map((f) => `${f}?`)
        .join(" "),
    }),
    { code },
  );
  t.equal(
    queries.stats.subscriptions,
    0,
    "no reader is left of a wrong request",
  );
});

t.test(
  "results are bounded, and evicted some time after the last reader",
  async (t) => {
    const { queries, clock } = create(["a", "b"], { maxResults: 2 });
    const live = (filter: string) =>
      queries.live({ ...window, filter }, () => undefined);
    const first = await live("a");
    await live("b");
    await t.rejects(live("c"), { code: "TOO_MANY_REQUESTS" });
    t.equal(
      await queries.count({ type: "VM", filter: "name_label:b" }),
      1,
      "pages and counts get through",
    );
    t.equal(queries.stats.results, 2);
    first.close();
    t.equal(queries.stats.results, 2, "he may come back");
    (await live("c")).close();
    clock.advance(60_000);
    t.match(queries.stats, { results: 1, subscriptions: 1 });
    t.equal(clock.pending, 0);
  },
);

t.test(
  "columns are built once, and least recently used ones are evicted",
  async (t) => {
    const { queries, table } = create(["a", "b", "c"]);
    await queries.count({ type: "VM", filter: "name_label:a" });
    t.equal(table.objectsRead, 3, "one pass for type and name");
    await queries.count({ type: "VM", filter: "power_state:x name_label:/b/" });
    t.equal(
      table.objectsRead,
      6,
      "another one for a column that was not there",
    );
    await queries.count({ type: "VM", filter: "power_state:y" });
    t.equal(table.objectsRead, 6);
    const small = create(["a", "b", "c"], { columnBytes: 0, lingerMs: 0 });
    t.equal(
      await small.queries.count({ type: "VM", filter: "name_label:a" }),
      1,
    );
    t.equal(small.queries.stats.columns, 0);
  },
);

t.test(
  "groups count members of lists, and objects without a value",
  async (t) => {
    const { queries, table } = create([]);
    table.put(vm("a", { tags: ["x", "y"] }));
    table.put(vm("b", { tags: ["x", "x"] }));
    table.put(vm("c", { tags: [] }));
    table.put(vm("d"));
    table.put(vm("e", { tags: ["w"], power_state: "Halted" }));
    table.flush();
    t.same(await queries.group({ type: "VM" }, "tags"), [
      { key: "x", count: 2 },
      { key: undefined, count: 2 },
      { key: "w", count: 1 },
      { key: "y", count: 1 },
    ]);
    t.same(
      await queries.group({ type: "VM", filter: "power_state:halted" }, "tags"),
      [{ key: "w", count: 1 }],
    );
  },
);

t.test("no step blocks the event loop for all objects", async (t) => {
  const names = Array.from({ length: 5_000 }, (_, i) => `vm${i}`);
  const { queries, table } = create(names);
  table.stepsPerTurn = 1;
  let turns = 0;
  table.betweenTurns = () => {
    turns++;
  };
  await queries.page({
    type: "VM",
    filter: "power_state:running",
    fields: ["id"],
  });
  t.ok(turns > 1_000, `${turns} turns`);
});

t.test("with regular expressions a step tests one object", async (t) => {
  const names = Array.from({ length: 500 }, (_, i) => `vm${i}`);
  const { queries, table } = create(names);
  table.stepsPerTurn = 1;
  let turns = 0;
  table.betweenTurns = () => {
    turns++;
  };
  const type = "VM";
  await queries.page({ type, filter: "name_label:/^vm/", fields: ["id"] });
  t.ok(turns >= names.length, `${turns} turns`);
});

t.test("a listed class is ready for a search, once it may be", async (t) => {
  let isLoaded = false;
  const { queries, table, flush } = create(["a", "b"], {
    preparesSearch: () => isLoaded,
    searchedOf: () => ["name_label", "description"],
  });
  const list = () => queries.page({ type: "VM", limit: 1 });
  await list();
  await flush();
  const { objectsRead } = table;
  isLoaded = true;
  queries.prepareSearches();
  await flush();
  t.equal(table.objectsRead, objectsRead + 2, "each object is read once");
  await queries.count({ type: "VM", search: "a" });
  await list();
  t.equal(table.objectsRead, objectsRead + 2, "and not again");
});

t.test("no step builds several objects of a page or a window", async (t) => {
  const names = Array.from({ length: 100 }, (_, i) => `vm${i}`);
  const { queries, table } = create(names);
  const json = table.json.bind(table);
  let built = 0;
  table.json = (row) => {
    built++;
    return json(row);
  };
  let most = 0;
  table.stepsPerTurn = 1;
  table.betweenTurns = () => {
    most = Math.max(most, built);
    built = 0;
  };
  await queries.page({ type: "VM" });
  t.equal(most, 1, "of a page");
  most = 0;
  const live = await queries.live(
    { type: "VM", offset: 0, limit: 100 },
    () => undefined,
  );
  t.ok(most <= 4, `of a window: ${most}`);
  live.close();
});
