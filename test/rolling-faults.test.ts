import t from "tap";
import { updateFaults, type UpdateFault } from "./rolling/update-faults.js";
import { WatchedUpdate } from "./rolling/watched-update.js";

t.comment("timeout=2400000");

/**
 * In `npm test` an eighth of the faults, a different one each day.
 * `XO_ROLLING_FAULT`: only those whose names match it.
 */
function chosen(): readonly UpdateFault[] {
  const requested = process.env["XO_ROLLING_FAULT"];
  if (requested !== undefined)
    return updateFaults.filter(({ name }) => new RegExp(requested).test(name));
  const seed = process.env["XO_TEST_SEED"];
  const share = seed === undefined ? 1 : 8;
  const first = seed === undefined ? 0 : Number(seed) % share;
  return updateFaults.filter((_, index) => index % share === first);
}

t.test("there are at least 40 faults, each with a name", async (t) => {
  const names = new Set(updateFaults.map(({ name }) => name));
  t.ok(names.size >= 40, `${names.size} faults`);
  t.equal(names.size, updateFaults.length);
});

/** How rolling updates with a fault have ended. */
const outcomes = new Map<string, number>();

for (const fault of chosen())
  t.test(fault.name, { timeout: 180_000 }, async (t) => {
    const { at, inject, repair, takes, disablesHa = false, says } = fault;
    const update = await WatchedUpdate.start(t, fault.factor);
    const injected = at && update.injectAt(at, () => inject(update));
    if (at === undefined) await inject(update);
    await update.begin(at?.options);
    const { status, result } = await update.ended();
    if (injected) t.ok(injected.wasInjected(), "it has injected");
    update.clearFaults();
    const isStopped = status !== "success";
    if (isStopped) {
      t.match(result?.message, says ?? /\w/, "it reports why it has stopped");
      const { where, reason } = result?.data ?? {};
      if (where !== undefined) t.match(reason, /\w/, JSON.stringify(where));
      const mayBeDown = takes?.(update) ?? [];
      t.same(
        await update.worse({ mayBeDown, disablesHa }),
        [],
        "nothing is worse",
      );
      await repair?.(update);
      await update.begin(at?.options);
      const again = await update.ended();
      t.equal(
        again.status,
        "success",
        `resumed: ${JSON.stringify(again.result)}`,
      );
    }
    const outcome = isStopped ? "stopped" : "continued";
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    t.comment(`${outcome}: ${result?.message ?? ""}`);
    t.same(await update.worse(), [], "all is as before");
    t.same(await update.notUpdated(), [], "all hosts are updated");
    const { log, pool } = update;
    t.same(log.lost, [], "no VM has ever stopped");
    const movesBack = at?.options !== undefined;
    t.same(log.needless({ movesBack }), [], "no VM has moved without need");
    t.same(
      pool.guard.violations,
      [],
      "no VM has come to a host that takes none",
    );
  });

t.teardown(() => {
  t.comment(JSON.stringify(Object.fromEntries(outcomes)));
});
