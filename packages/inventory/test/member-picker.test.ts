import t from "tap";
import {
  canonicalJson,
  filterFields,
  evaluatePredicate,
  compileFilter,
  MemberPicker,
} from "@xo-server/inventory";
import { createRandom, randomFilter, randomObject } from "./random-filter.js";

const SEED = 20_261_121;
const ROUNDS = 4_000;

/** Such that their order, their bytes or their escapes could be taken for others'. */
const KEYS = [
  "",
  "!",
  '"',
  '"\\',
  "$pool",
  "$poolId",
  "\\",
  "a",
  'a"',
  "ab",
  "id",
  "tags",
  "z",
  "~",
  "\u0000",
  "\r",
  "\u0080",
  "é",
  "\ufb33",
  "😀",
  "\ud800",
  "__proto__",
  "constructor",
  "x.y",
  "a,b",
  '{"id":1}',
];
const VALUES = [
  0,
  -1.5,
  1e21,
  true,
  null,
  "",
  "a",
  'q"\\',
  '"id":"x"',
  "\\\\",
  "😀",
  [],
  {},
  [[]],
  { id: "inner", tags: [{ a: '}"' }] },
  ["]", "}", ","],
];

t.test("picked properties are those of the object", async (t) => {
  t.comment(`seed ${SEED}`);
  const random = createRandom(SEED);
  const some = <T>(all: readonly T[]) =>
    all.filter(() => random(all.length) < 5);
  for (let round = 0; round < ROUNDS; round++) {
    const object = Object.fromEntries(
      some(KEYS).map((key) => [key, VALUES[random(VALUES.length)]]),
    );
    const fields = some(KEYS);
    const requested = Object.fromEntries(
      Object.entries(object).filter(([key]) => fields.includes(key)),
    );
    const picked = new MemberPicker(fields).pick(
      Buffer.from(canonicalJson(object)),
    );
    if (picked.toString() !== canonicalJson(requested))
      return t.equal(
        picked.toString(),
        canonicalJson(requested),
        `${JSON.stringify(fields)} of ${canonicalJson(object)}`,
      );
  }
  t.pass(`${ROUNDS} objects`);
});

t.test("objects larger than any before are picked from, too", async (t) => {
  const object = { a: "x".repeat(100_000), b: "é".repeat(50_000), c: 1 };
  const picked = new MemberPicker(["b", "c"]).pick(
    Buffer.from(canonicalJson(object)),
  );
  t.same(JSON.parse(picked.toString()), { b: object.b, c: 1 });
});

t.test("picked values are unchanged", async (t) => {
  const picker = new MemberPicker(["a"]);
  const first = picker.pick(Buffer.from('{"a":1}'));
  picker.pick(Buffer.from('{"a":2}'));
  t.equal(first.toString(), '{"a":1}');
});

t.test("a filter reads only its fields of an object", async (t) => {
  t.comment(`seed ${SEED}`);
  const random = createRandom(SEED);
  let narrow = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const filter = randomFilter(random);
    const fields = filterFields(filter);
    if (fields !== undefined) narrow++;
    const test = compileFilter(filter);
    const narrowTest = Object.assign((value: unknown) => test(value), {
      fields,
    });
    for (let i = 0; i < 3; i++) {
      const object = randomObject(random);
      if (typeof object !== "object" || object === null) continue;
      if (Array.isArray(object)) continue;
      const json = Buffer.from(canonicalJson(object));
      const whole = test(JSON.parse(json.toString()));
      // Asked twice: the second answer may be one that is remembered.
      for (const answer of [
        evaluatePredicate(narrowTest, json),
        evaluatePredicate(narrowTest, json),
      ])
        if (answer !== whole)
          return t.equal(
            answer,
            whole,
            `${JSON.stringify(filter)} of ${json.toString()}`,
          );
    }
  }
  t.ok(narrow > ROUNDS / 10, `${narrow} filters have fields`);
});
