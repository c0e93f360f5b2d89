import t from "tap";
import { metricFormulas } from "../src/stats/now-recipe.js";
import type { ColumnSet } from "../src/stats/column-set.js";

t.test("a host with more free memory than it has is unknown", async (t) => {
  const names = ["memory_total_kib", "memory_free_kib"];
  const columnSet = { type: "host", names } as unknown as ColumnSet;
  const memory = (total: number, free: number) =>
    metricFormulas(columnSet)[1]!((column) => [total, free][column] ?? NaN);
  t.equal(memory(8, 2), 6 * 1024);
  t.same(memory(2, 8), NaN, "not a negative number");
  t.same(memory(NaN, 8), NaN);
});
