import t from "tap";
import {
  placementPath,
  placementPool,
  placementTab,
} from "../src/placement/placement-pool.js";

const pools = [
  { id: "b", type: "pool", name_label: "Pool 10" },
  { id: "a", type: "pool", name_label: "Pool 2" },
];

t.test("the last used pool is opened, else the first by name", async (t) => {
  t.equal(placementPool(pools, "b")?.id, "b");
  t.equal(placementPool(pools, "gone")?.id, "a");
  t.equal(placementPool(pools, undefined)?.id, "a");
  t.equal(placementPool([], "b"), undefined);
});

t.test("an address that names no part leads to the first", async (t) => {
  t.equal(placementTab("rules"), "rules");
  t.equal(placementTab(""), placementTab("toString"));
});

t.test("the sections of a page keep its pool", async (t) => {
  t.equal(placementPath("rules", "a&b"), "/placement/rules?pool=a%26b");
  t.equal(placementPath("rules", undefined), "/placement/rules");
});
