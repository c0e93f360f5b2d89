import t from "tap";
import { toCacheLimits } from "../src/config/cache-limits.js";

const budget = {
  recordCacheBytes: 1,
  viewCacheBytes: 2,
  feedBytes: 3,
  columnBytes: 4,
  ringSize: 5,
};

t.test("unset limits are computed from the memory", async (t) => {
  const open = {
    recordCacheBytes: 0,
    viewCacheBytes: 0,
    feedBytes: 0,
    columnBytes: 0,
    ringSize: 0,
  };
  t.same(toCacheLimits(open, budget), budget);
  for (const key of Object.keys(budget) as (keyof typeof budget)[])
    t.same(toCacheLimits({ ...open, [key]: 77 }, budget), {
      ...budget,
      [key]: 77,
    });
});
