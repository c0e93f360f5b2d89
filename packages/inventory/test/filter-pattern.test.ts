import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { RegExpParser } from "@eslint-community/regexpp";
import { parseFilter } from "@xo-server/inventory";
import t from "tap";
import { createLinearPattern } from "../src/filter/linear-pattern.js";
import { createPattern, patternLimits } from "../src/filter/pattern.js";
import { createRandom, pick, type Random } from "./random-filter.js";
import { seeds } from "./seeds.js";

function matches(source: string, text: string, ignoreCase = false) {
  const pattern = createPattern(source, ignoreCase);
  return typeof pattern === "string" ? pattern : pattern.test(text);
}

t.test("an expression that JavaScript refuses is refused", async (t) => {
  for (const source of ["(", "[b-a]", "a**", "(?<n>a)(?<n>b)", "*", "\\"])
    t.equal(matches(source, "a"), "a regular expression", source);
});

t.test("expressions are bounded in length and size", async (t) => {
  const { length } = patternLimits;
  t.equal(matches("^" + "a".repeat(length - 1), "a"), false);
  t.match(matches("a".repeat(length + 1), "a"), /at most 1000 characters/);
  t.match(matches("(?:a{200}){200}", "a"), /simpler/);
  t.match(matches("(?:a|b{2000})*", "a"), /simpler/);
});

t.test("the expressions of one filter are bounded together", async (t) => {
  const filter = (...sources: readonly string[]) =>
    `|(${sources.map((source) => `name:/${source}/`).join(" ")})`;
  const large = ["a{1,999}b", "a{1,999}c", "a{1,999}d"];
  t.ok(parseFilter(filter(...large)));
  t.throws(() => parseFilter(filter(...large, "a{1,999}e")), {
    code: "FILTER_INVALID",
    data: { expected: "a simpler regular expression" },
  });
  const small = Array.from({ length: 16 }, (_, i) => `(a|b${i})+c`);
  t.ok(parseFilter(filter(...small)));
});

t.test("ignoring the case of large classes is bounded", async (t) => {
  // RE2 looks up the other case of each character of a range: 4 ms for this one.
  const large = "[\\u0001-\\uffff]";
  const ambiguous = (source: string) => `(a|a)*${source}x`;
  t.equal(matches(ambiguous(large.repeat(2)), "a!?X", true), true);
  t.match(matches(ambiguous(large.repeat(9)), "a", true), /simpler/);
  t.equal(matches(ambiguous(large.repeat(9)), "a", false), false);
  t.equal(matches(ambiguous(".".repeat(500)), "a", true), false);
  t.equal(matches(ambiguous("\\S.\\D"), "aé!bX", true), true);
});

t.test("looking around and back is allowed where it is cheap", async (t) => {
  t.equal(matches("^(?!test)", "prod"), true);
  t.equal(matches("^(?!test)", "test-1"), false);
  t.equal(matches("^(?!.*test)", "my test"), false);
  t.equal(matches("(?<=-)10$", "db-10"), true);
  t.match(matches("^(?=(a+)+$)", "a"), /simpler/);
  t.match(matches("(.*)\\1.*\\1", "aaa"), /simpler/);
});

t.test("a text is tested up to a bound", async (t) => {
  const { text } = patternLimits;
  for (const source of ["b", "(?:a|b)+b"]) {
    t.equal(matches(source, "a".repeat(text - 1) + "b"), true);
    t.equal(matches(source, "a".repeat(text) + "b"), false);
  }
  t.equal(matches("a$", "a".repeat(text)), true);
  t.equal(matches("a$", "a".repeat(2 * text)), false, "a cut is not an end");
});

t.test("a long list of identifiers is accepted", async (t) => {
  const uuids = Array.from(
    { length: 27 },
    (_, n) => `5f6b9a3e-0c1d-4e2f-8a7b-${String(n).padStart(12, "0")}`,
  );
  t.equal(matches(uuids.join("|"), uuids[26]!), true);
  t.equal(matches(uuids.join("|"), "x".repeat(300) + uuids[26]!), true);
  t.equal(matches(uuids.join("|"), uuids[26]!.slice(1)), false);
});

t.test("characters beyond the basic plane are found", async (t) => {
  for (const source of ["x😀$", "(?:x|😀)+$"])
    t.equal(matches(source, "x".repeat(2_000) + "😀"), true);
});

const ATOMS = [
  ..."abAB1 _-é",
  ".",
  "\\d",
  "\\D",
  "\\w",
  "\\W",
  "\\s",
  "\\S",
  "[ab]",
  "[^ab]",
  "[a-c_]",
  "[\\W_]",
  "[^\\d-]",
  "[]",
  "[^]",
  "\\x41",
  "\\u00e9",
  "\\n",
  "\\-",
  "^",
  "$",
  "\\b",
  "\\B",
];
const TIMES = ["*", "+", "?", "*?", "+?", "{2}", "{0,2}", "{1,}", "{0}"];

function randomSource(random: Random, depth: number): string {
  const inner = () => randomSource(random, depth - 1);
  switch (random(depth > 0 ? 8 : 3)) {
    case 3:
    case 4:
    case 5:
      return inner() + inner();
    case 6:
      return `(${inner()}|${inner()})`;
    case 7:
      return `(?:${inner()})${pick(random, TIMES)}`;
    default:
      return pick(random, ATOMS);
  }
}

t.test("both engines return the results of JavaScript", async (t) => {
  const syntax = new RegExpParser({ ecmaVersion: 2024 });
  const alphabet = [..."aabbABcCé1_ -\n\u00a0\u2028"];
  const wrong: unknown[] = [];
  for (const seed of seeds(3_000)) {
    const random = createRandom(seed);
    const source = randomSource(random, 4);
    const ignoreCase = random(2) === 0;
    const native = new RegExp(source, ignoreCase ? "i" : "");
    const linear = createLinearPattern(
      syntax.parsePattern(source, 0, source.length, {}),
      ignoreCase,
    )!;
    const chosen = createPattern(source, ignoreCase);
    if (typeof chosen === "string") continue;
    for (let round = 0; round < 8; round++) {
      let text = "";
      for (let left = random(8); left > 0; left--)
        text += pick(random, alphabet);
      const expected = native.test(text);
      if (linear(text) !== expected || chosen.test(text) !== expected)
        wrong.push({
          seed,
          source,
          ignoreCase,
          text,
          expected,
          linear: linear(text),
          chosen: chosen.test(text),
        });
    }
  }
  t.same(wrong.slice(0, 5), [], `${String(wrong.length)} differ`);
});

t.test("no expression takes long on any text", async (t) => {
  const worker = new Worker(new URL("./hostile-patterns.js", import.meta.url));
  t.teardown(() => worker.terminate());
  for (let index = 0, left = 1; left > 0; index++) {
    worker.postMessage(index);
    const answer = await answerOf(worker);
    if (answer === undefined) {
      t.fail(`expression ${String(index)} did not come back`);
      return;
    }
    left = answer.left;
    if (index < 23) t.comment(`${answer.source}: ${answer.answers.join(" ")}`);
  }
  t.pass("all came back");
});

/** undefined when nothing came for far longer than anything may take. */
async function answerOf(worker: Worker) {
  try {
    const signal = AbortSignal.timeout(5_000);
    const [answer] = (await once(worker, "message", { signal })) as [
      { source: string; answers: unknown[]; left: number },
    ];
    return answer;
  } catch {
    return undefined;
  }
}
