import type { LiveUpdate } from "@xo-server/inventory";
import t from "tap";
import { LiveCopy } from "./live-copy.js";
import { until } from "./until.js";
import { create, vm, window } from "./queried-table.js";

t.test("a live query sends everything first, then differences", async (t) => {
  const { queries, table, flush } = create(["a", "c"]);
  const copy = new LiveCopy();
  await queries.live(
    { ...window, filter: "power_state:running" },
    copy.listener,
  );
  t.equal(copy.updates.length, 1);
  t.match(copy.last, {
    revision: 2,
    total: 2,
    splice: { at: 0, remove: 0, insert: ["a", "c"] },
  });
  table.put(vm("b"));
  table.put(vm("a", { memory: 4 }));
  await flush();
  t.match(copy.last, { total: 3, splice: { at: 1, remove: 0, insert: ["b"] } });
  t.same([...copy.last.objects.keys()], ["b"]);
  t.equal(copy.last.patches.get("a")!.toString(), `{"memory":4}`);
  table.put(vm("c", { power_state: "Halted" }));
  table.put(vm("x", { power_state: "Halted" }));
  await flush();
  t.match(copy.last.splice, { at: 2, remove: 1, insert: [] });
  t.equal(copy.digest, copy.last.digest);
  table.put(vm("x", { power_state: "Halted", memory: 1 }));
  await flush();
  t.equal(copy.updates.length, 3, "changes outside of the window are not sent");
});

t.test("only the requested fields are sent", async (t) => {
  const { queries, table, flush } = create(["a"]);
  const copy = new LiveCopy();
  const live = await queries.live(
    { ...window, fields: ["power_state"] },
    copy.listener,
  );
  t.same(copy.objects, [{ power_state: "Running" }]);
  table.put(vm("a", { memory: 4 }));
  await flush();
  t.equal(copy.updates.length, 1);
  table.put(vm("a", { power_state: "Paused" }));
  await flush();
  t.equal(copy.last.patches.size + copy.last.objects.size, 1);
  t.same(copy.objects, [{ power_state: "Paused" }]);
  await live.change({ fields: ["id"] });
  t.equal(copy.last.splice, undefined);
  t.same(copy.objects, [{ id: "a" }]);
  t.equal(copy.digest, copy.last.digest);
});

t.test("a change of window or filter sends the difference only", async (t) => {
  const { queries } = create(["a", "b", "c", "d", "e"]);
  const copy = new LiveCopy();
  const live = await queries.live({ ...window, limit: 3 }, copy.listener);
  await live.change({ offset: 1 });
  t.match(copy.last, {
    offset: 1,
    splice: { at: 0, remove: 3, insert: ["b", "c", "d"] },
  });
  t.same(
    [...copy.last.objects.keys()],
    ["d"],
    "what was there is not sent again",
  );
  await live.change({ offset: 0, filter: "name_label:|(b d)" });
  t.same(copy.ids, ["b", "d"]);
  t.equal(copy.last.objects.size, 0);
  await t.rejects(live.change({ filter: "(" }), { code: "FILTER_INVALID" });
  await live.change({ limit: 1 });
  t.same(copy.ids, ["b"], "a change that was refused has no effect");
  t.equal(copy.total, 2);
});

t.test("a keystroke aborts the request of the previous one", async (t) => {
  const names = Array.from({ length: 6_000 }, (_, i) => `vm${i}`);
  const { queries, table } = create(names);
  const copy = new LiveCopy();
  const live = await queries.live({ ...window, search: "v" }, copy.listener);
  table.stepsPerTurn = 1;
  let turns = 0;
  table.betweenTurns = () => {
    turns++;
  };
  const strokes = ["vm5", "vm59", "vm599", "vm5999"].map((search) =>
    live.change({ search }),
  );
  await Promise.all(strokes);
  const turnsOfAll = turns;
  t.same(copy.ids, ["vm5999"]);
  t.equal(copy.updates.length, 2, "those in between are not sent");
  turns = 0;
  await live.change({ search: "vm4999" });
  t.ok(
    turnsOfAll < 2 * turns,
    `${turnsOfAll} turns for four, ${turns} for one`,
  );
});

t.test("subscribers with the same request share one update", async (t) => {
  const { queries, table, flush, errors } = create(["a"]);
  const seen: LiveUpdate[] = [];
  await queries.live(window, () => {
    throw new Error("a reader that fails");
  });
  for (let i = 0; i < 3; i++)
    await queries.live(window, (update) => seen.push(update));
  table.put(vm("b"));
  await flush();
  t.equal(seen.length, 6);
  t.ok(seen[3] === seen[4] && seen[4] === seen[5]);
  t.equal(errors.length, 2, "and an error of one does not affect others");
  t.match(queries.stats, { results: 1, subscriptions: 4 });
});

t.test("values that appear and disappear leave nothing behind", async (t) => {
  const { queries, table, flush } = create(["a", "b"]);
  await queries.live(
    { ...window, sort: [{ by: "n" }], filter: "n:>=0" },
    () => undefined,
  );
  const bytes: number[] = [];
  for (let i = 0; i < 5_000; i++) {
    table.put(vm("a", { n: i, name_label: `name ${i}` }));
    if (i % 10 === 0) await flush();
    if (i % 2_400 === 1_200) bytes.push(queries.stats.columnBytes);
  }
  t.ok(bytes[1]! <= bytes[0]! * 1.01, `${bytes.join()} bytes`);
});

t.test("after stop everything is closed", async (t) => {
  const { queries, table, clock } = create(["a"]);
  const live = await queries.live(window, () => undefined);
  queries.stop();
  await t.rejects(queries.page({ type: "VM" }), { code: "CLOSED" });
  await t.rejects(live.change({ offset: 1 }), { code: "CLOSED" });
  t.equal(table.observers, 0);
  t.equal(clock.pending, 0);
  await until(() => true);
});

t.test("listed objects are found, appear, change and disappear", async (t) => {
  const { queries, table, flush } = create(["a", "b", "c"]);
  const ids = ["c", "zz", "a", "c"];
  const page = await queries.page({ type: "VM", ids });
  t.same(page.ids, ["a", "c"], "in the order that was asked for");
  t.equal(await queries.count({ type: "VM", ids, filter: "name_label:c" }), 1);
  t.equal(await queries.count({ type: "VM", ids: [] }), 0, "none is none");

  const copy = new LiveCopy();
  await queries.live({ ...window, ids }, copy.listener);
  table.put(vm("zz"));
  table.put(vm("d"));
  await flush();
  t.same(copy.ids, ["a", "c", "zz"]);
  table.put(vm("a", { name_label: "y" }));
  await flush();
  t.same(copy.ids, ["c", "a", "zz"]);
  table.remove("c");
  await flush();
  t.same(copy.ids, ["a", "zz"]);
  await t.rejects(
    queries.count({ type: "VM", ids: Array.from({ length: 1001 }, String) }),
    { code: "INVALID_PARAMETERS" },
  );
});
