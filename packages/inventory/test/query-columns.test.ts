import {
  createQueries,
  type ColumnsAnswer,
  type ColumnsRequest,
} from "@xo-server/inventory";
import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { createFakeCatalog, FakeViewTable } from "./fake-view-table.js";
import { select } from "./naive-query.js";
import { Random } from "./seeded-random.js";

const seed = Number(process.env["SEED"] ?? 1 + Math.floor(Math.random() * 1e9));

interface SentColumn {
  readonly values: readonly unknown[];
  readonly indexes?: readonly number[];
  readonly step?: number;
}

/** What a client keeps from answer to answer. */
class ColumnsCopy {
  state: string | undefined;
  ids: readonly string[] = [];
  readonly columns = new Map<string, readonly unknown[]>();
  sentBytes = 0;

  take(answer: ColumnsAnswer): void {
    this.state = answer.state;
    this.sentBytes = answer.ids?.length ?? 0;
    if (answer.ids !== undefined)
      this.ids = JSON.parse(answer.ids.toString()) as string[];
    for (const [path, json] of answer.columns) {
      this.sentBytes += json.length;
      this.columns.set(path, decode(JSON.parse(json.toString()) as SentColumn));
    }
  }

  get sent(): Record<string, Record<string, unknown>> {
    return Object.fromEntries(
      this.ids.map((id, i) => [
        id,
        Object.fromEntries(
          [...this.columns].map(([path, values]) => [path, values[i]]),
        ),
      ]),
    );
  }
}

function decode({ values, indexes, step }: SentColumn): readonly unknown[] {
  if (indexes !== undefined) return indexes.map((index) => values[index]);
  if (step === undefined) return values;
  return values.map((n) => (n === null ? null : (n as number) * step));
}

const vm = (id: string, more: object = {}) => ({
  id,
  type: "VM",
  name_label: id,
  power_state: "Running",
  ...more,
});

function create(names: readonly string[]) {
  const table = new FakeViewTable();
  for (const name of names) table.put(vm(name));
  table.flush();
  const queries = createQueries(createFakeCatalog(table), {
    clock: new FakeClock(),
    searchedOf: () => ["name_label"],
  });
  const call = async (
    copy: ColumnsCopy,
    more: Partial<ColumnsRequest> = {},
  ) => {
    const known = copy.state === undefined ? {} : { known: copy.state };
    const request = { type: "VM", paths: ["name_label", "power_state"] };
    const answer = await queries.columns({ ...request, ...known, ...more });
    copy.take(answer);
    return answer;
  };
  return { table, queries, call };
}

t.test("repeated values are sent once", async (t) => {
  const { call } = create(["a", "b", "c", "d"]);
  const answer = await call(new ColumnsCopy());
  t.match(answer, { total: 4, revision: 4 });
  t.same(
    [...answer.columns].map(([path, json]) => [path, json.toString()]),
    [
      ["name_label", '{"values":["a","b","c","d"]}'],
      ["power_state", '{"values":["Running"],"indexes":[0,0,0,0]}'],
    ],
  );
  t.equal(answer.ids?.toString(), '["a","b","c","d"]');
});

t.test("only differences to the known state are sent", async (t) => {
  const { table, queries, call } = create(["a", "b", "c"]);
  const copy = new ColumnsCopy();
  const paths = ["name_label", "power_state", "now.cpu"];
  await call(copy, { paths });
  t.same(copy.sent["a"], {
    name_label: "a",
    power_state: "Running",
    "now.cpu": null,
  });
  t.same((await call(copy, { paths })).columns.size, 0, "nothing differs");
  const now = queries.metrics("VM");
  now.set("b", 0, 0.4567);
  now.commit();
  const figures = await call(copy, { paths });
  t.same([...figures.columns.keys()], ["now.cpu"]);
  t.equal(figures.ids, undefined);
  t.equal(copy.sent["b"]?.["now.cpu"], 0.457);
  table.put(vm("c", { name_label: "new" }));
  table.flush();
  t.same([...(await call(copy, { paths })).columns.keys()], ["name_label"]);
  t.equal(copy.sent["c"]?.["name_label"], "new");
  t.same(
    [
      ...(
        await call(copy, { paths: ["now.disk", "name_label"] })
      ).columns.keys(),
    ],
    ["now.disk"],
    "another path among known ones",
  );
});

t.test("other objects: everything is sent again", async (t) => {
  const { table, call } = create(["a", "b"]);
  const copy = new ColumnsCopy();
  await call(copy);
  table.remove("a");
  table.freeAtOnce();
  table.put(vm("z"));
  table.flush();
  const answer = await call(copy);
  t.same(copy.ids, ["z", "b"], "also where one has the row of another");
  t.equal(answer.columns.size, 2);
  await call(copy, { known: '["elsewhere","2-00",1]' });
  t.same(copy.ids, ["z", "b"]);
  t.ok(copy.sentBytes > 20, "the state of another process is not known here");
  await call(copy, { known: "{" });
  t.ok(copy.sentBytes > 20);
});

t.test("objects that go while columns are read are left out", async (t) => {
  const names = Array.from({ length: 2_000 }, (_, i) => `vm${i}`);
  const { table, call } = create(names);
  const copy = new ColumnsCopy();
  await call(copy);
  table.stepsPerTurn = 1;
  let turns = 0;
  table.betweenTurns = () => {
    if (++turns === 2) table.remove("vm1999");
    if (turns === 3) table.put(vm("vm1998", { name_label: "late" }));
  };
  const answer = await call(copy, { known: "" });
  t.ok(turns > 3);
  t.equal(answer.total, 2_000, "as it was when it was read");
  t.equal(copy.ids.length, 1_999);
  t.notOk(copy.ids.includes("vm1999"));
  t.equal(copy.sent["vm1998"]?.["name_label"], "late");
  table.flush();
  await call(copy);
  t.equal(copy.ids.length, 1_999);
});

t.test("invalid and excessive requests are refused", async (t) => {
  const { queries } = create(["a"]);
  const columns = (more: Partial<ColumnsRequest>) =>
    queries.columns({ type: "VM", paths: [], ...more });
  const refused = { code: "INVALID_PARAMETERS" };
  await t.rejects(columns({ paths: [..."123456789"] }), refused);
  await t.rejects(columns({ paths: ["now.nothing"] }), refused);
  await t.rejects(columns({ limit: 0 }), refused);
  await t.rejects(columns({ limit: 200_001 }), refused);
  await t.rejects(columns({ type: "Unicorn" }), refused);
  const long = "x".repeat(1 << 20);
  const big = create(Array.from({ length: 70 }, (_, i) => `${i}${long}`));
  await t.rejects(
    big.queries.columns({ type: "VM", paths: ["name_label"] }),
    refused,
    "an answer of more than 64 MiB",
  );
});

t.test("only those that the user may see", async (t) => {
  const { queries } = create(["a", "b", "c"]);
  const copy = new ColumnsCopy();
  const where = (object: unknown) => (object as { id: string }).id !== "a";
  const paths = ["__proto__", "name_label"];
  copy.take(await queries.columns({ type: "VM", where, paths, limit: 1 }));
  t.same(copy.ids, ["b"]);
  t.same(copy.columns.get("name_label"), ["b"]);
});

t.test(
  `client copies equal a naive reference after random changes (SEED=${seed})`,
  async (t) => {
    const random = new Random(seed);
    const { table, queries, call } = create([]);
    const change = () => {
      const id = `${random.below(60)}`;
      if (random.below(3) === 0) table.remove(id);
      else
        table.put(
          vm(id, {
            type: random.pick(["VM", "VM", "VM-template"]),
            power_state: random.pick(["Running", "Halted", undefined]),
            tags: random.pick([[], ["a"], ["a", "b"]]),
          }),
        );
      if (random.below(4) === 0) table.freeAtOnce();
      if (random.below(3) === 0) table.flush();
      queries
        .metrics("VM")
        .set(`${random.below(60)}`, 1, random.below(9) << 20);
      if (random.below(3) === 0) queries.metrics("VM").commit();
    };
    const selections = [{}, { filter: "power_state:running" }, { search: "1" }];
    const all = ["name_label", "power_state", "tags", "now.memory"];
    const copies = selections.map(() => new ColumnsCopy());
    for (let round = 0; round < 200; round++) {
      for (let i = random.below(6); i > 0; i--) change();
      table.flush();
      const which = random.below(selections.length);
      const copy = copies[which]!;
      const selection = selections[which]!;
      await call(copy, { ...selection, paths: all });
      const expected = select(table.all, { type: "VM", ...selection }, [
        "name_label",
      ]).map((object) => {
        const { tags, name_label, power_state } = object;
        const now = queries.metrics("VM").get(object.id, 1);
        return [
          object.id,
          {
            name_label,
            power_state: power_state ?? null,
            tags: tags ?? null,
            "now.memory": Number.isNaN(now) ? null : now,
          },
        ];
      });
      // What was set and not committed is not seen yet.
      queries.metrics("VM").commit();
      await call(copy, { ...selection, paths: all });
      t.strictSame(copy.sent, Object.fromEntries(expected), `round ${round}`);
    }
  },
);
