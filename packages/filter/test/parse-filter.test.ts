import t from "tap";
import { filterLimits, parseFilter, type Filter } from "@xo-server/filter";

const text = (text: string): Filter => ({ kind: "text", text });
const number = (text: string): Filter => ({
  kind: "text",
  text,
  number: Number(text),
});
const property = (name: string, term: Filter): Filter => ({
  kind: "property",
  name,
  term,
});
const truthy = (name: string): Filter => ({ kind: "truthy", name });
const not = (term: Filter): Filter => ({ kind: "not", term });
const and = (...terms: Filter[]): Filter => ({ kind: "and", terms });
const or = (...terms: Filter[]): Filter => ({ kind: "or", terms });
const regex = (source: string, ignoreCase = false): Filter => ({
  kind: "regex",
  source,
  ignoreCase,
});

const trees: Record<string, Filter> = {
  "": and(),
  "   ": and(),
  // Texts that clients really send
  "power_state:running": property("power_state", text("running")),
  "type:/^SR$/": property("type", regex("^SR$")),
  "VDI:2dbb VM:7f01": and(
    property("VDI", text("2dbb")),
    property("VM", text("7f01")),
  ),
  "SR:u host:v attached?": and(
    property("SR", text("u")),
    property("host", text("v")),
    truthy("attached"),
  ),
  "content_type:user !shared? !inMaintenanceMode? $PBDs:length:>=1 $pool:u":
    and(
      property("content_type", text("user")),
      not(truthy("shared")),
      not(truthy("inMaintenanceMode")),
      property(
        "$PBDs",
        property("length", { kind: "compare", operator: ">=", number: 1 }),
      ),
      property("$pool", text("u")),
    ),
  "tags:(a b)": property("tags", and(text("a"), text("b"))),
  "!name_label:/re/": not(property("name_label", regex("re"))),
  "power_state:|(running halted)": property(
    "power_state",
    or(text("running"), text("halted")),
  ),
  // Spaces
  " ! a : b  | ( c d ) ": and(
    not(property("a", text("b"))),
    or(text("c"), text("d")),
  ),
  '(a)(b)"c"d': and(text("a"), text("b"), text("c"), text("d")),
  "a :b": property("a", text("b")),
  "a\n\tb": and(text("a"), text("b")),
  // Groups of one are their term
  "((a))": text("a"),
  "|(a)": text("a"),
  "(a (b c))": and(text("a"), and(text("b"), text("c"))),
  // Names and texts
  "memory.size:1": property("memory.size", number("1")),
  '"a b":c': property("a b", text("c")),
  '"a"?': truthy("a"),
  '"a:b"': text("a:b"),
  '"\\"\\\\\\n"': text('"\\n'),
  '""': text(""),
  "prénom:München": property("prénom", text("München")),
  "имя:数据库 हिन्दी": and(property("имя", text("数据库")), text("हिन्दी")),
  "__proto__:x": property("__proto__", text("x")),
  // Numbers
  42: number("42"),
  "-1.5e3": number("-1.5e3"),
  '"42"': text("42"),
  Infinity: text("Infinity"),
  "1.2.3": text("1.2.3"),
  // Globs and regular expressions
  "db-*": { kind: "glob", pattern: "db-*" },
  "*": { kind: "glob", pattern: "*" },
  "n:*a*": property("n", { kind: "glob", pattern: "*a*" }),
  "/a\\/b/i": regex("a\\/b", true),
  '/"[)]: /': regex('"[)]: '),
  "/a/ i": and(regex("a"), text("i")),
  // Comparisons
  "<1": { kind: "compare", operator: "<", number: 1 },
  "a:<=-2": property("a", { kind: "compare", operator: "<=", number: -2 }),
};

for (const [filter, tree] of Object.entries(trees))
  t.test(`${JSON.stringify(filter)} is read`, async (t) => {
    t.strictSame(parseFilter(filter), tree);
  });

const errors: Record<string, [position: number, expected: string]> = {
  "a:": [2, "a term"],
  "a: )": [3, "a term"],
  ":a": [0, "a term"],
  "a)": [1, "a term"],
  "a ?": [2, "a term"],
  "()": [1, "a term"],
  "(a": [2, 'a term or ")"'],
  "(a ": [3, 'a term or ")"'],
  "|a": [1, '"("'],
  "|()": [2, "a term"],
  "! ": [2, "a term"],
  "> 1": [1, "a number"],
  ">=abc": [2, "a number"],
  ">Infinity": [1, "a number"],
  '>"1"': [1, "a number"],
  "n*e:x": [3, "a term"],
  "n*?": [2, "a term"],
  'a "b\\"': [6, "a closing quote"],
  "/a\\/": [0, '"/" at the end of the expression'],
  "a:/(/": [2, "a regular expression"],
  "a@b": [1, "a term"],
};

for (const [filter, [position, expected]] of Object.entries(errors))
  t.test(`${JSON.stringify(filter)} is refused`, async (t) => {
    t.throws(() => parseFilter(filter), {
      name: "FilterSyntaxError",
      message: `expected ${expected} at position ${String(position)}`,
      expected,
      position,
    });
  });

t.test("length, depth and number of terms are bounded", async (t) => {
  const { length, depth, terms } = filterLimits;
  const refused = (filter: string, expected: string) => {
    t.throws(() => parseFilter(filter), {
      name: "FilterSyntaxError",
      expected,
    });
  };
  t.doesNotThrow(() => parseFilter("a".repeat(length)));
  refused("a".repeat(length + 1), "at most 16384 characters");
  t.doesNotThrow(() => parseFilter("!".repeat(depth - 1) + "a"));
  refused("!".repeat(depth) + "a", "at most 64 levels");
  refused("(".repeat(length), "at most 64 levels");
  refused("a:".repeat(length / 2), "at most 64 levels");
  t.doesNotThrow(() => parseFilter("a ".repeat(terms)));
  refused("a ".repeat(terms + 1), "at most 1024 terms");
});

t.test("regular expressions are as many as the limit at most", async (t) => {
  const { patterns } = filterLimits;
  t.doesNotThrow(() => parseFilter("/a/ ".repeat(patterns)));
  t.throws(() => parseFilter("/a/ ".repeat(patterns + 1)), {
    name: "FilterSyntaxError",
    expected: "at most 16 regular expressions",
    position: 4 * patterns,
  });
});

t.test(
  "the caller decides which regular expressions are accepted",
  async (t) => {
    const check = (source: string, ignoreCase: boolean) =>
      source === "a" && ignoreCase ? undefined : "something simpler";
    t.strictSame(parseFilter("/a/i", check), regex("a", true));
    t.throws(() => parseFilter("x /a/", check), {
      name: "FilterSyntaxError",
      expected: "something simpler",
      position: 2,
    });
  },
);
