import t from "tap";
import { columnsInterval } from "../src/live/columns-interval.js";

t.test("columns are requested at their interval", async (t) => {
  t.equal(columnsInterval(30_000, { tookMs: 50, isComplete: true }), 30_000);
});

t.test("more often while pools are being loaded", async (t) => {
  t.equal(columnsInterval(30_000, { tookMs: 50, isComplete: false }), 1_000);
  t.equal(columnsInterval(500, { tookMs: 50, isComplete: false }), 500);
});

t.test("less often where a response takes long, up to a limit", async (t) => {
  t.equal(columnsInterval(5_000, { tookMs: 3_000, isComplete: true }), 12_000);
  t.equal(columnsInterval(5_000, { tookMs: 400, isComplete: false }), 1_600);
  t.equal(columnsInterval(5_000, { tookMs: 60_000, isComplete: true }), 20_000);
});
