import t from "tap";
import { compileFilter } from "../src/filter/compile-filter.js";
import { parseFilter } from "../src/filter/parse-filter.js";

const matches = (filter: string, value: unknown) =>
  compileFilter(parseFilter(filter))(value);

const vm = {
  type: "VM",
  name_label: "Web-10 Zürich",
  power_state: "Running",
  tags: ["prod", "Team A"],
  memory: { size: 4294967296, dynamic: [1, 2] },
  CPUs: { number: 4 },
  cores: "8",
  other: { auto_poweron: "true", "a.b": "dotted" },
  $PBDs: ["1"],
  empty: "",
  zero: 0,
  none: null,
  high_availability: false,
  shared: true,
};

const yes = [
  "power_state:run",
  "type:vm",
  "name_label:zÜRICH",
  '"web-10"',
  "prod",
  "team",
  "tags:(prod team)",
  "tags:|(nope prod)",
  "dotted",
  "name_label:1",
  "4294967296",
  "memory:4294967296",
  "memory:size:>=4294967296",
  "memory.size:>=4GiB",
  "memory.size?",
  "memory:size:<=4294967296",
  "CPUs:number:>2",
  "CPUs:number:<5",
  "$PBDs:length:>=1",
  "cores:>7",
  "other:auto_poweron:true",
  "other:a.b:dotted",
  "shared?",
  "!zero?",
  "!empty?",
  "!none?",
  "!missing?",
  "!none:a",
  "!missing:a:b",
  "missing:!a",
  "!missing:a:!b",
  "!missing:>0",
  "!missing:<=0",
  "!zero:x",
  "zero:0",
  "w*10*rich",
  "*zür*",
  "*",
  "/^Web-\\d+/",
  "/^web-/i",
  "type:/^VM$/",
  "tags:/^prod$/",
  'empty:""',
];
const no = [
  "power_state:halted",
  "type:vm-template",
  "tags:(prod other)",
  '"4294967296"',
  "memory:size:>4294967296",
  "memory:size:<4294967296",
  "CPUs:number:>4",
  "missing:>0",
  "missing:<=0",
  "none:<=0",
  "power_state:<=0",
  "empty:<=0",
  "high_availability:<=0",
  "shared:true",
  "none:null",
  "missing:undefined",
  "missing:a:!b",
  "none:a:!b",
  "none:!a:b none:a",
  "high_availability?",
  "rich*web",
  "/^web-/",
  "tags:/^pro$/",
  "toString?",
  "constructor?",
  "__proto__?",
  "tags:map?",
  "high_availability:*",
];

for (const filter of yes)
  t.test(`${JSON.stringify(filter)} matches`, async (t) => {
    t.equal(matches(filter, vm), true);
    t.equal(matches(`!(${filter})`, vm), false);
  });
for (const filter of no)
  t.test(`${JSON.stringify(filter)} does not match`, async (t) => {
    t.equal(matches(filter, vm), false);
  });

t.test("an empty filter matches everything", async (t) => {
  for (const value of [vm, null, undefined, 0]) t.ok(matches("", value));
});

t.test("only own properties are seen", async (t) => {
  const heir = Object.create({ a: "inherited" }) as object;
  t.equal(matches("a:inherited", heir), false);
  t.equal(matches("inherited", heir), false);
  const odd = JSON.parse('{"__proto__":{"a":"x"}}') as unknown;
  t.equal(matches("__proto__:a:x", odd), true);
  t.equal(matches("a:x", odd), false);
});

t.test("undefined matches only negated filters", async (t) => {
  for (const filter of ["a", "1", "a?", "a:b", ">0", "<0", "*", "/a*/", '""'])
    for (const value of [undefined, null]) {
      t.equal(matches(filter, value), false, filter);
      t.equal(matches(`!${filter}`, value), true, filter);
    }
});

t.test(
  "a value that is deep, or contains itself, is searched to a depth",
  async (t) => {
    const loop: unknown[] = ["x"];
    loop.push(loop);
    t.equal(matches("y", loop), false);
    t.equal(matches("x", loop), true);
    let deep: unknown = "bottom";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    t.equal(matches("bottom", deep), false);
  },
);

t.test("a tree that parseFilter would refuse is refused", async (t) => {
  t.throws(
    () => compileFilter({ kind: "regex", source: "(", ignoreCase: false }),
    { code: "FILTER_INVALID" },
  );
});
