import t from "tap";
import { POLICY } from "./balanced-pool.js";
import { guestRefs } from "./pool-guard.js";
import { startBalanced } from "./start-balanced.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

t.test("no balancing during a rolling reboot", LIMIT, async (t) => {
  const { api, pool, balanced, clock } = await startBalanced(t);
  // VMs without guest tools can neither be migrated nor shut down cleanly.
  for (const vm of guestRefs(pool.db)) {
    const { uuid, power_state, allowed_operations } = pool.db.get("VM", vm);
    if (power_state === "Halted" || power_state === "Suspended") continue;
    if (!(allowed_operations as string[]).includes("clean_shutdown"))
      await api.request("vm.stop", { id: uuid, force: true });
  }
  const [busy] = balanced.candidates() as [string];
  balanced.loadOne(busy);
  // The imbalance has to last longer than the reboots take to start.
  await balanced.set({ ...POLICY, holdSeconds: 3600 });
  await balanced.inState("pending");
  const from = clock.now();
  const rolled = api.call("pool.rollingReboot", {
    pool: pool.id,
    shutdownPinnedVms: true,
  });
  await balanced.inState("paused");
  const answer = await rolled;
  const to = clock.now();
  t.match(answer, { result: true }, JSON.stringify(answer.error));
  const others = [...pool.guard.moves];
  t.ok(others.length > 0, "VMs have been migrated there and back");
  for (const { start: begun } of await balanced.runs())
    t.notOk(begun > from && begun < to, "no run meanwhile");
  await balanced.set(POLICY);
  await balanced.balancedAgain(0);
  await balanced.check(t, others);
});
