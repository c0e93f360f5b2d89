import t from "tap";
import { parseLenient } from "@xo-server/model";

t.test("bare NaN and infinities are numbers", async (t) => {
  t.same(parseLenient("[NaN,Infinity,-Infinity,-NaN]"), [
    NaN,
    Infinity,
    -Infinity,
    NaN,
  ]);
});

t.test("an integer past 2^53 keeps every digit", async (t) => {
  t.equal(parseLenient("9007199254740993"), 9007199254740993n);
  t.equal(parseLenient("-9223372036854775808"), -9223372036854775808n);
  t.equal(parseLenient("9007199254740991"), 9007199254740991);
  t.equal(parseLenient("1e300"), 1e300);
});

t.test("the same words inside strings stay strings", async (t) => {
  const text = String.raw`{"NaN":"Infinity","a\"NaN":"9007199254740993 NaN"}`;
  t.same(parseLenient(text), JSON.parse(text));
});

t.test("no text in the document is taken for an internal mark", async (t) => {
  for (const text of ['["\ue000NaN", NaN]', String.raw`["\ue000NaN", NaN]`]) {
    t.same(parseLenient(text), ["\ue000NaN", NaN]);
  }
});

t.test("__proto__ is an ordinary key", async (t) => {
  const value = parseLenient('{"__proto__":{"polluted":NaN}}') as object;
  t.ok(Object.hasOwn(value, "__proto__"));
  t.equal(Object.getPrototypeOf(value), Object.prototype);
  t.notOk("polluted" in {});
});

t.test("broken text is a SyntaxError", async (t) => {
  for (const text of ["", "{", "[1,]", "[NaNN]", '{"a":NaN'])
    t.throws(() => parseLenient(text), SyntaxError, text);
});
