import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const EXPIRE_MS = 900_000;

export async function testSignInAttempts(t: Test, harness: StoreHarness) {
  const attempt = (id: string, ...keys: readonly string[]) => ({
    id,
    keys,
    forMs: 20_000,
    mayBegin: () => true,
  });

  t.test("one of several processes verifies a name at a time", async (t) => {
    const bench = await createBench(t, harness);
    const stores = await Promise.all([bench.open(), bench.open()]);
    const begun = await Promise.all(
      stores.map(({ signInAttempts }, i) =>
        signInAttempts.begin(attempt(`${i}`, "user ada", `address ${i}`)),
      ),
    );
    t.same(begun.toSorted(), ["begun", "busy"]);
    const winner = begun.indexOf("begun");
    const [one, other] = [stores[winner]!, stores[1 - winner]!];
    const next = attempt("next", "user ada");
    t.equal(await other.signInAttempts.begin(next), "busy");
    t.equal(
      await other.signInAttempts.begin(attempt("bob", "user bob")),
      "begun",
      "others go on",
    );
    await one.signInAttempts.end(`${winner}`);
    t.equal(await other.signInAttempts.begin(next), "begun");
    bench.clock.advance(20_000);
    t.equal(
      await one.signInAttempts.begin(attempt("last", "user ada")),
      "begun",
      "the process that has begun the last one was killed",
    );
  });

  t.test("failures of all processes are counted together", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    const keys = ["user ada", "address 192.0.2.1"];
    await one.signInAttempts.begin(attempt("a", ...keys));
    await one.signInAttempts.fail("a", keys, EXPIRE_MS);
    bench.clock.advance(1_000);
    await two.signInAttempts.begin(attempt("b", ...keys));
    await two.signInAttempts.fail("b", keys, EXPIRE_MS);
    const time = bench.clock.now();
    t.same(await one.signInAttempts.read([...keys, "user bob"]), [
      { count: 2, time },
      { count: 2, time },
      { count: 0, time: 0 },
    ]);
    const seen: unknown[] = [];
    const refused = await one.signInAttempts.begin({
      ...attempt("c", ...keys),
      mayBegin(failures) {
        seen.push(...failures);
        return false;
      },
    });
    t.equal(refused, "refused");
    t.match(seen, [{ count: 2 }, { count: 2 }]);
    t.equal(await two.signInAttempts.begin(attempt("d", ...keys)), "begun");
    await two.signInAttempts.end("d", ["user ada"]);
    t.match(await one.signInAttempts.read(keys), [{ count: 0 }, { count: 2 }]);
    bench.clock.advance(EXPIRE_MS);
    await one.signInAttempts.fail("e", keys, EXPIRE_MS);
    t.match(await one.signInAttempts.read(keys), [{ count: 1 }, { count: 1 }]);
  });

  t.test("names are stored as codes, and deleted when unused", async (t) => {
    const bench = await createBench(t, harness);
    const { signInAttempts } = await bench.open();
    await signInAttempts.fail("a", ["user s3cret typed as a name"], EXPIRE_MS);
    const rows = await bench.query("select * from sign_in_attempts");
    t.equal(rows.length, 1);
    t.notMatch(JSON.stringify(rows), /s3cret/);
    bench.clock.advance(EXPIRE_MS + 1);
    await signInAttempts.begin(attempt("b", "user bob"));
    t.equal((await bench.query("select * from sign_in_attempts")).length, 1);
  });
}
