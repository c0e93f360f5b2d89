import { applyMergePatch } from "@xo-server/kit";
import { isDeepStrictEqual } from "node:util";
import t from "tap";
import {
  addDigest,
  canonicalJson,
  writeMergePatch,
  digestOf,
  digestToText,
  EMPTY_DIGEST,
  subtractDigest,
} from "@xo-server/inventory";
import { createRandom, type Random } from "./catalog-history.js";

t.test("canonical JSON is RFC 8785's", async (t) => {
  const cases: [unknown, string][] = [
    [
      { b: 1, a: [{ d: null, c: "\n\u0007/" }] },
      `{"a":[{"c":"\\n\\u0007/","d":null}],"b":1}`,
    ],
    // The RFC's own example of sorting (3.2.3): by code units, not by code points.
    [
      { "€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\u0080": 6, ö: 7 },
      `{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}`,
    ],
    [{ 10: 1, 9: 2, b: 1, a: 2 }, `{"10":1,"9":2,"a":2,"b":1}`],
    [
      [1e21, 1e-7, -0, 333333333.3333333, 4.5],
      "[1e+21,1e-7,0,333333333.3333333,4.5]",
    ],
    [
      { b: undefined, a: NaN, c: 9007199254740993n },
      `{"a":null,"c":9007199254740992}`,
    ],
    [{ x: "\ud800" }, `{"x":"\\ud800"}`],
    [
      JSON.parse(`{"b":1,"__proto__":{"z":1,"y":2}}`),
      `{"__proto__":{"y":2,"z":1},"b":1}`,
    ],
    [{}, "{}"],
  ];
  for (const [value, text] of cases) t.equal(canonicalJson(value), text);
});

t.test("digests distinguish sets, whatever the order", async (t) => {
  const one = digestOf(Buffer.from(`{"a":1}`));
  const two = digestOf(Buffer.from(`{"a":2}`));
  t.equal(digestToText(one), "090bf9acd934d274");
  t.equal(
    digestToText(digestOf(Buffer.from(`{"a":"é, more than a word"}`))),
    "05602ee2acf2d665",
  );
  t.equal(digestToText(EMPTY_DIGEST), "0000000000000000");
  const both = addDigest(addDigest(EMPTY_DIGEST, one), two);
  t.same(both, addDigest(two, one));
  t.same(subtractDigest(both, one), two);
  const seen = new Set<string>();
  for (let i = 0; i < 50_000; i++)
    seen.add(digestToText(digestOf(Buffer.from(`{"n":${i}}`))));
  t.equal(seen.size, 50_000);
  const high = new Set([...seen].map((text) => text.slice(0, 8)));
  t.ok(high.size > 49_900, "each half alone is nearly enough");
  t.not(
    digestToText(digestOf(Buffer.of(0))),
    digestToText(digestOf(Buffer.of(0, 0))),
  );
});

t.test("merge patches are applied as in RFC 7386", async (t) => {
  // Appendix A, as text: null and __proto__ come as they would from the wire.
  const cases = [
    [`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`],
    [`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`],
    [`{"a":"b"}`, `{"a":null}`, `{}`],
    [`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`],
    [`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`],
    [`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`],
    [`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`],
    [`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`],
    [`["a","b"]`, `["c","d"]`, `["c","d"]`],
    [`{"a":"b"}`, `["c"]`, `["c"]`],
    [`{"a":"foo"}`, `null`, `null`],
    [`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`],
    [`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`],
    [`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`],
    [`{"b":1}`, `{"__proto__":{"x":1}}`, `{"b":1,"__proto__":{"x":1}}`],
  ] as const;
  for (const [target, patch, result] of cases) {
    const before = JSON.parse(target) as unknown;
    const after = applyMergePatch(before, JSON.parse(patch));
    t.same(JSON.stringify(after), result);
    t.equal(JSON.stringify(before), target, "what was is left as it is");
  }
  t.equal(({} as Record<string, unknown>)["x"], undefined);
});

t.test("a created patch leads from the old to the new object", async (t) => {
  const seed = 7;
  t.comment(`seed ${seed}`);
  const random = createRandom(seed);
  let patches = 0;
  let complete = 0;
  for (let i = 0; i < 20_000; i++) {
    const before = {
      ...(mapOf(random, 3) as object),
      zz: "x".repeat(random(600)),
    };
    const after = changed(before, random);
    const patch = writeMergePatch(bytesOf(before), bytesOf(after));
    if (patch === undefined) {
      complete++;
      continue;
    }
    patches++;
    const result = applyMergePatch(before, JSON.parse(patch.toString()));
    if (!isDeepStrictEqual(result, after))
      t.same(result, after, `${JSON.stringify(before)} ${patch.toString()}`);
  }
  t.ok(patches > 5_000, `${patches} patches`);
  t.ok(complete > 500, `${complete} that no patch can express`);
});

t.test("no patch where it would have to set null", async (t) => {
  const patch = (before: object, after: object) =>
    writeMergePatch(bytesOf(before), bytesOf(after))?.toString();
  const pad = { zz: "x".repeat(100) };
  t.equal(patch({ a: 1, ...pad }, { a: null, ...pad }), undefined);
  t.equal(patch(pad, { a: { b: null }, ...pad }), undefined);
  t.equal(patch({ a: 1, ...pad }, { a: [null], ...pad }), `{"a":[null]}`);
  t.equal(patch({ a: null, ...pad }, { a: {}, ...pad }), `{"a":{}}`);
  t.equal(patch({ a: null, b: 1, ...pad }, { a: null, ...pad }), `{"b":null}`);
  t.equal(patch({ a: 1, b: 2 }, { a: 1 }), undefined, "longer than the object");
});

function bytesOf(value: unknown): Buffer {
  return Buffer.from(canonicalJson(value));
}

const KEYS = [
  "a",
  "ab",
  "a b",
  "a!",
  "é",
  "\u007f",
  "\n",
  "\t",
  '"',
  "\\",
  "9",
  "10",
  "￿",
  "😀",
  "__proto__",
];

function mapOf(random: Random, depth: number): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  for (const key of KEYS)
    if (random(3) === 0) put(map, key, valueOf(random, depth - 1));
  return map;
}

function valueOf(random: Random, depth: number): unknown {
  switch (random(depth > 0 ? 7 : 5)) {
    case 0:
      return random(1000);
    case 1:
      return `"}${"é\\".repeat(random(3))},:null`;
    case 2:
      return random(8) === 0 ? null : true;
    case 3:
      return [random(3), { b: null, a: "]" }];
    case 4:
      return "";
    default:
      return mapOf(random, depth);
  }
}

/** A copy with some members changed, added and removed, at any depth. */
function changed(before: Record<string, unknown>, random: Random) {
  const after: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(before)) {
    const kind = random(8);
    if (kind === 0) continue;
    const isMap = typeof value === "object" && value !== null;
    if (kind === 1) put(after, key, valueOf(random, 2));
    else if (kind === 2 && isMap && !Array.isArray(value))
      put(after, key, changed(value as Record<string, unknown>, random));
    else put(after, key, value);
  }
  if (random(2) === 0) put(after, KEYS[random(KEYS.length)]!, random(9));
  return after;
}

function put(map: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(map, key, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
