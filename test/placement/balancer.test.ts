import t from "tap";
import { POLICY } from "./balanced-pool.js";
import { until } from "./fast-pools.js";
import { uuidOf } from "./plan-outcome.js";
import { startBalanced } from "./start-balanced.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

t.test("an imbalance is corrected, and reported", LIMIT, async (t) => {
  const { pool, balanced } = await startBalanced(t);
  const [busy, other] = balanced.candidates() as [string, string];
  balanced.loadOne(busy);
  await balanced.set(POLICY);
  await balanced.balancedAgain(0);
  await balanced.check(t);
  t.match((await balanced.audited())[0], {
    subject: { userName: "load balancer" },
    data: { outcome: "success" },
  });
  for (const { by } of await balanced.runs())
    t.match(by, { cause: "automatic", userName: "load balancer" });

  const moved = pool.guard.moves.length;
  balanced.loadOne(other);
  await balanced.balancedAgain(moved);
  await balanced.check(t);
});

t.test("a dry run migrates nothing", LIMIT, async (t) => {
  const { pool, balanced } = await startBalanced(t);
  const [busy] = balanced.candidates() as [string];
  balanced.loadOne(busy);
  await balanced.set({ ...POLICY, mode: "dry-run" });
  const [run] = await until(
    () => balanced.runs(),
    (runs) => runs.length > 0,
    "the history",
  );
  t.equal(run!.status, "dry-run");
  t.ok(run!.moves.length > 0);
  for (const move of run!.moves) {
    t.equal(move.status, "planned");
    t.equal(move.from, uuidOf(pool, "host", busy));
  }
  await balanced.inState("cooldown", "dry-run");
  t.same(pool.guard.moves, []);
  t.same(await balanced.audited(), []);
});
