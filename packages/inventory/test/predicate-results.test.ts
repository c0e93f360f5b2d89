import t from "tap";
import { PredicateResults } from "../src/catalog/predicate-results.js";
import { Random } from "./seeded-random.js";
import {
  catalogOf,
  createPool,
  record,
  refOf,
  uuidOf,
} from "./catalog-pool.js";

const SEED = 7;

t.test("placement results are stable, for each test and row", async (t) => {
  t.comment(`seed ${SEED}`);
  const random = new Random(SEED);
  const answers = new PredicateResults();
  const tests = Array.from({ length: 5 }, () => () => true);
  const known = tests.map(() => new Map<number, boolean>());
  for (let i = 0; i < 20_000; i++) {
    const row = random.below(6_000);
    const which = random.below(tests.length);
    if (random.below(3) === 0) {
      answers.invalidate(row);
      for (const one of known) one.delete(row);
    } else if (random.below(2) === 0) {
      const holds = random.below(2) === 0;
      answers.set(row, tests[which]!, holds);
      known[which]!.set(row, holds);
    }
    if (answers.get(row, tests[which]!) !== known[which]!.get(row))
      return t.fail(`row ${row} of test ${which} at ${i}`);
  }
});

t.test("many tests do not use ever more memory", async (t) => {
  const answers = new PredicateResults();
  const first = () => true;
  answers.set(10_000, first, true);
  for (let i = 0; i < 1_000; i++) answers.set(10_000, () => false, false);
  t.ok(answers.byteLength < 200_000, `${answers.byteLength} bytes`);
  t.equal(answers.get(10_000, first), undefined, "those asked last are kept");
});

t.test(
  "a row is requested once, and again when its object changes",
  async (t) => {
    const pool = createPool("a", "b");
    const { catalog, poll, flush, stop } = await catalogOf(pool);
    const table = catalog.tables.get("VM")!;
    const row = table.findId(uuidOf("a"));
    let asked = 0;
    const isOther = (value: unknown) => {
      asked++;
      return (value as { other?: { x?: string } }).other?.x === "1";
    };
    t.notOk(table.passes(row, isOther));
    t.notOk(table.passes(row, isOther));
    t.equal(asked, 1);
    pool.put("VM", refOf("a"), record("a", { other: { x: "1" } }));
    await poll();
    await flush();
    t.ok(table.passes(row, isOther));
    t.ok(table.passes(row, isOther));
    t.equal(asked, 2);
    pool.put("VM", refOf("a"), record("a", { other: { x: "2" } }));
    await poll();
    t.equal(
      table.passes(row, isOther),
      (table.object(row) as { other?: { x?: string } }).other?.x === "1",
      "before it is published: for the object as it can be read",
    );
    await flush();
    t.notOk(table.passes(row, isOther), "its former value matters no more");
    await stop();
  },
);

t.test("an id is written as it reads", async (t) => {
  const { catalog, stop } = await catalogOf(createPool("a"));
  const table = catalog.tables.get("VM")!;
  const row = table.findId(uuidOf("a"));
  const bytes = Buffer.alloc(40, 120);
  const length = table.writeId(row, bytes, 2);
  t.equal(bytes.toString(), `xx${uuidOf("a")}${"x".repeat(38 - length)}`);
  await stop();
});
