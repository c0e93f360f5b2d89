import t from "tap";
import { POLICY } from "./balanced-pool.js";
import { until, type FastPool } from "./fast-pools.js";
import { uuidOf } from "./plan-outcome.js";
import { guestsOn, isUp } from "./pool-guard.js";
import { startBalanced } from "./start-balanced.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

t.test(
  "a pool that shrinks, grows and fails ends balanced",
  LIMIT,
  async (t) => {
    const bare = { profile: "host", name: "bare", seed: 9, pace: 0.2 } as const;
    const started = await startBalanced(t, bare);
    const { api, pool, pools, balanced } = started;
    const { db, sim, guard } = pool;
    await balanced.set(POLICY);

    const joiner = [...(pools[1] as FastPool).db.refs("host")][0]!;
    const id = uuidOf(pools[1] as FastPool, "host", joiner);
    await api.request("pool.addHost", { pool: pool.id, host: id });
    const joined = await until(
      () => db.byUuid("host", id) ?? "",
      (ref) => ref !== "" && isUp(db, ref),
      "the host that joins",
    );
    const old = [...db.refs("host")].filter((host) => host !== joined);
    balanced.load((host) => (old.includes(host) ? 0.55 : 0));
    await until(
      () => guestsOn(db, joined).length,
      (count) => count > 0,
      "the number of VMs on the host that has joined",
    );
    t.pass("a host that has joined is given VMs");
    await balanced.check(t);

    const [, victim] = balanced.candidates() as [string, string];
    const isLead = [...db.records("pool")][0]![1]["master"] === victim;
    const dying = isLead ? balanced.candidates()[0]! : victim;
    const lost = guestsOn(db, dying).length;
    t.ok(lost > 0);
    sim.killHost(dying);
    await balanced.inState("paused", "host-failed");
    await until(
      () => guestsOn(db, dying).length,
      (count) => count === 0,
      "the number of VMs on the dead host",
    );
    sim.reviveHost(dying);
    await balanced.inState("idle");

    const away = [...db.refs("host")].find(
      (host) => host !== dying && guestsOn(db, host).length > 0,
    )!;
    await api.request("host.disable", { id: uuidOf(pool, "host", away) });
    await balanced.inState("paused", "host-maintenance");
    const disabledAt = guard.moves.length;
    // VMs are spread, so that no host can become overloaded.
    await balanced.set({ cpuHigh: 0.25, cpuLow: 0.18 });
    const [busy] = balanced.candidates();
    balanced.load((host) => (host === busy ? 0.9 : 0.02));
    await balanced.inState("paused", "host-maintenance");
    t.equal(guard.moves.length, disabledAt, "nothing moves meanwhile");
    await api.request("host.enable", { id: uuidOf(pool, "host", away) });
    await balanced.balancedAgain(disabledAt);
    await balanced.check(t);
  },
);
