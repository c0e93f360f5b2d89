import { isDeepStrictEqual } from "node:util";
import t from "tap";
import { createMergePatch, type Json } from "../src/index.js";
import { applyPatch, withoutNulls } from "./reference-merge-patch.js";

t.test("without differences there is no patch", async (t) => {
  const same: Json = { a: 1, b: { c: [1, 2] }, d: null };
  t.equal(createMergePatch(same, structuredClone(same)), undefined);
});

t.test("only differences are in the patch", async (t) => {
  t.same(
    createMergePatch(
      { a: 1, b: { c: 1, d: 2 }, gone: 1, list: [1] },
      { a: 1, b: { c: 1, d: 3 }, list: [1, 2], come: {} },
    ),
    { b: { d: 3 }, list: [1, 2], come: {}, gone: null },
  );
});

t.test("null and absent are the same", async (t) => {
  t.equal(createMergePatch({ a: null }, {}), undefined);
  t.equal(createMergePatch({}, { a: null }), undefined);
  t.same(createMergePatch({ a: 1 }, { a: null }), { a: null });
});

t.test("the patch leads from one object to the other", async (t) => {
  const random = mulberry32(42);
  const wrong: unknown[] = [];
  for (let round = 0; round < 500; round++) {
    const [before, after] = [anObject(random, 3), anObject(random, 3)];
    const patch = createMergePatch(before, after);
    const led = patch === undefined ? before : applyPatch(before, patch);
    if (!isDeepStrictEqual(withoutNulls(led), withoutNulls(after)))
      wrong.push({ before, after, patch });
  }
  t.same(wrong, []);
});

t.test("a key named __proto__ is a key like any other", async (t) => {
  const hostile = JSON.parse('{"__proto__": {"polluted": true}}') as Json;
  const patch = createMergePatch({}, hostile);
  t.equal(JSON.stringify(patch), '{"__proto__":{"polluted":true}}');
  t.notOk("polluted" in {});
});

function anObject(random: () => number, depth: number): Json {
  const keys = ["a", "b", "c", "d"].filter(() => random() < 0.6);
  return Object.fromEntries(keys.map((key) => [key, aValue(random, depth)]));
}

function aValue(random: () => number, depth: number): Json {
  const kind = random();
  if (kind < 0.4 && depth > 0) return anObject(random, depth - 1);
  if (kind < 0.5) return null;
  if (kind < 0.6) return [Math.floor(random() * 2)];
  return Math.floor(random() * 3);
}

/** Small and good enough: the same numbers from the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
