import t from "tap";
import {
  analyseFilter,
  type FilterPlan,
} from "../src/filter/analyse-filter.js";
import { compileFilter } from "../src/filter/compile-filter.js";
import { parseFilter } from "../src/filter/parse-filter.js";
import { holds } from "./filter-plan-holds.js";
import { createRandom, randomFilter, randomObject } from "./random-filter.js";
import { seeds } from "./seeds.js";

const plan = (filter: string) => analyseFilter(parseFilter(filter));

/** A plan without its functions. */
function shape(plan: FilterPlan): unknown {
  switch (plan.kind) {
    case "and":
    case "or":
      return [plan.kind, ...plan.parts.map(shape)];
    case "not":
      return ["not", shape(plan.part)];
    case "path":
      return plan.path.join("/");
    case "object":
      return "object";
  }
}

const shapes: Record<string, unknown> = {
  "": ["and"],
  "power_state:running": "power_state",
  "CPUs:number:>2": "CPUs/number",
  "memory.size:>2": "memory/size",
  "tags:(a b)": "tags",
  "attached?": "attached",
  "other:a?": "other/a",
  "a:b:c:/x/": "a/b/c",
  web: "object",
  "!web": ["not", "object"],
  "a:1 |(b:2 !c:3) d": ["and", "a", ["or", "b", ["not", "c"]], "object"],
  "a:(b:1 c:d:2)": ["and", "a/b", "a/c/d"],
  "a:|(b:1 c?)": ["or", "a/b", "a/c"],
  "a:(b:1 c)": "a",
};

for (const [filter, expected] of Object.entries(shapes))
  t.test(`${JSON.stringify(filter)} is parsed`, async (t) => {
    t.strictSame(shape(plan(filter)), expected);
  });

t.test(
  "a denial below a property still shows whether the parent exists",
  async (t) => {
    t.equal(shape(plan("a:b:!c")), "a");
    t.equal(holds(plan("a:b:!c"), {}), false);
    t.equal(holds(plan("a:b:!c"), { a: null }), false);
    t.equal(holds(plan("a:b:!c"), { a: {} }), true);
    t.equal(holds(plan("a:!b"), {}), true);
  },
);

t.test("a plan is valid exactly when the filter matches", async (t) => {
  for (const seed of seeds(3_000)) {
    const random = createRandom(seed);
    const filter = randomFilter(random);
    const test = compileFilter(filter);
    const plan = analyseFilter(filter);
    for (let round = 0; round < 5; round++) {
      const object = randomObject(random);
      if (holds(plan, object) === test(object)) continue;
      t.fail(`seed ${String(seed)}`, { filter, object });
      return;
    }
  }
  t.pass("3,000 filters");
});
