import t from "tap";
import { startFast, until, type FastPool } from "./fast-pools.js";
import {
  checkOutcome,
  placeOf,
  refOf,
  uuidOf,
  type FailoverPlan,
  type Outcome,
  type Plan,
} from "./plan-outcome.js";
import { guestsOn, isUp } from "./pool-guard.js";
import { complicate, SeededRandom, randomOptions } from "./random-pool.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

const SEEDS = [1, 2, 3, 4, 5, 6];
const FACTOR = 20;

for (const seed of SEEDS)
  t.test(`seed ${seed}: a host is emptied as planned`, LIMIT, async (t) => {
    const { api, pools } = await startFast(
      t,
      { factor: FACTOR, prepare: (sim) => complicate(sim, seed) },
      randomOptions(seed),
    );
    const [pool] = pools as [FastPool];
    const memory = pool.guard.memory();
    const random = new SeededRandom(seed);
    const hosts = [...pool.db.refs("host")].filter(
      (host) => guestsOn(pool.db, host).length > 0,
    );
    const host = random.pick(hosts);
    const id = uuidOf(pool, "host", host);
    const params = { hosts: [id] };
    const plan = (await api.request(
      "placement.planEvacuation",
      params,
    )) as Plan;
    const stay = new Set(plan.unplaced.map(({ vm }) => vm));
    t.comment(`${plan.actions.length} actions, ${stay.size} unplaced`);
    if (plan.actions.length > 0) {
      const input = { pool: pool.id, actions: plan.actions };
      const outcome = (await api.request("placement.apply", input)) as Outcome;
      checkOutcome(t, pool, plan, outcome);
    }
    const left = guestsOn(pool.db, host).map((vm) => uuidOf(pool, "VM", vm));
    t.same(left.filter((vm) => !stay.has(vm)).map(stateOf(pool)), [], "empty");
    t.same(pool.guard.memory(), memory);
  });

/** Why a VM cannot be migrated, for the message of a failure. */
function stateOf(pool: FastPool) {
  return (vm: string) => {
    const record = pool.db.get("VM", refOf(pool, "VM", vm));
    return `${vm} ${record["power_state"] as string}`;
  };
}

for (const seed of SEEDS)
  t.test(
    `seed ${seed}: the plan restarts the VMs of a failed host`,
    LIMIT,
    async (t) => {
      const { api, pools } = await startFast(
        t,
        { factor: FACTOR, prepare: (sim) => complicate(sim, seed) },
        randomOptions(seed),
      );
      const [pool] = pools as [FastPool];
      const { db, sim } = pool;
      const random = new SeededRandom(seed);
      const coordinator = [...db.records("pool")][0]![1]["master"];
      const host = random.pick(
        [...db.refs("host")].filter(
          (ref) => ref !== coordinator && isUp(db, ref),
        ),
      );
      const id = uuidOf(pool, "host", host);
      const guests = guestsOn(db, host);
      const running = guests.filter(
        (vm) => db.get("VM", vm)["power_state"] === "Running",
      );
      const params = { pool: pool.id, hosts: [id] };
      const plan = (await api.request(
        "placement.planFailover",
        params,
      )) as FailoverPlan;
      t.comment(
        `${running.length} guests: ${plan.actions.length} actions, ${plan.unplaced.length} unplaced, ${plan.notRestarted.length} lost`,
      );
      const reported = [
        ...plan.actions.filter(({ kind }) => kind === "start"),
        ...plan.unplaced,
      ].map(({ vm }) => vm);
      t.same(
        [...reported, ...plan.notRestarted].toSorted(),
        guests.map((vm) => uuidOf(pool, "VM", vm)).toSorted(),
        "each VM is reported",
      );
      sim.killHost(host);
      await until(
        () => api.all({ type: "VM", power_state: "Running", $container: id }),
        (found) => found.length === 0,
        "VMs on the dead host",
      );
      if (plan.actions.length > 0) {
        const input = { pool: pool.id, actions: plan.actions };
        const outcome = (await api.request(
          "placement.apply",
          input,
        )) as Outcome;
        checkOutcome(t, pool, plan, outcome);
      }
      const safe = guests.filter(
        (vm) => db.get("VM", vm)["ha_restart_priority"] === "restart",
      );
      if (plan.survives)
        for (const vm of safe)
          t.equal(db.get("VM", vm)["power_state"], "Running");
      for (const vm of plan.notRestarted) t.equal(placeOf(pool, vm), undefined);
      t.same(pool.guard.violations, []);
    },
  );
