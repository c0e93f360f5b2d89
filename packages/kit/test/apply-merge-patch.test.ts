import t from "tap";
import { applyMergePatch, type Json } from "../src/index.js";

/** The examples of RFC 7386, appendix A: target, patch, result. */
const examples: readonly [Json, Json, Json][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

t.test("a merge patch follows the examples of RFC 7386", async (t) => {
  for (const [target, patch, result] of examples)
    t.equal(
      JSON.stringify(applyMergePatch(target, patch)),
      JSON.stringify(result),
      `${JSON.stringify(target)} with ${JSON.stringify(patch)}`,
    );
});

t.test(
  "unchanged parts keep their identity when a patch is applied",
  async (t) => {
    const before = { pools: { a: { n: 1 }, b: { n: 2 } }, server: { up: 1 } };
    const after = applyMergePatch(before, {
      pools: { a: { n: 3 } },
    }) as typeof before;
    t.equal(after.pools.a.n, 3);
    t.equal(after.pools.b, before.pools.b);
    t.equal(after.server, before.server);
    t.equal(before.pools.a.n, 1, "the target itself is left alone");
    t.equal(
      applyMergePatch(before, { pools: { a: { n: 1 } }, gone: null }),
      before,
      "a patch that changes nothing gives back the target",
    );
  },
);

t.test("keys that name a prototype are keys like any other", async (t) => {
  const patch = JSON.parse(
    '{"__proto__":{"bad":1},"constructor":{"prototype":{"bad":1}}}',
  ) as Json;
  const after = applyMergePatch({ a: 1 }, patch) as Record<string, Json>;
  t.equal(({} as Record<string, unknown>)["bad"], undefined);
  t.equal((Object as unknown as Record<string, unknown>)["bad"], undefined);
  t.equal(after["bad"], undefined);
  t.same(Object.keys(after).sort(), ["__proto__", "a", "constructor"]);
  const again = applyMergePatch(
    after,
    JSON.parse('{"__proto__":null}') as Json,
  );
  t.same(Object.keys(again as object).sort(), ["a", "constructor"]);
});
