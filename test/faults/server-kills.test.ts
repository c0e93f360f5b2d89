import t from "tap";
import { KillBench } from "./kill-bench.js";
import { seededRandom } from "./seeded-random.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const KILLS = 6;
const SEED = Number(process.env["SEED"] ?? 20261121);

t.test("all acknowledged data exists after kill -9", LIMIT, async (t) => {
  t.comment(`SEED=${SEED}`);
  const bench = new KillBench(t, t.testdir({}), seededRandom(SEED));
  while (bench.kills < KILLS) {
    t.same((await bench.run()).lost, []);
    t.equal(await bench.verifyAuditLog(), 0);
  }
  t.same(await bench.end(), []);
  t.equal(await bench.verifyAuditLog(), 0);
  t.comment(`${bench.acknowledged} writes, ${bench.kills} kills`);
  t.ok(bench.acknowledged > 0);
});
