import t, { type Test } from "tap";
import { chosenRows } from "./chosen-rows.js";
import { seededRandom } from "./faults/seeded-random.js";
import {
  startFast,
  type FastPool,
  type FastPools,
} from "./placement/fast-pools.js";
import { PoolLog } from "./rolling/pool-log.js";

t.comment("timeout=3600000");

/** `XO_ROLLING_POOLS=1000 XO_ROLLING_SEED=1`: number of pools, and their first seed. */
const POOLS = Number(process.env["XO_ROLLING_POOLS"] ?? 40);
const FIRST = Number(process.env["XO_ROLLING_SEED"] ?? 1);
/** Pools that one server updates at the same time. */
const AT_ONCE = 10;
/** Lower on a busy machine: `XO_ROLLING_FACTOR=10`. */
const FACTOR = Number(process.env["XO_ROLLING_FACTOR"] ?? 30);
const XAPI = "callTimeoutMs: 20000";
/** What rolling updates do not read is left out: accelerated, it was a third of the CPU time. */
const SETTINGS = `stats: { follow: false }
inventory: { persist: false }`;

interface Request {
  readonly parallel?: number;
  readonly migrateBack: boolean;
  readonly shutdownPinnedVms: boolean;
}

interface RandomPool {
  readonly seed: number;
  readonly hosts: number;
  readonly vms: number;
  readonly request: Request;
  /** HA is enabled, tolerates `failures` of hosts, and restarts `protects` of ten VMs, as far as the pool can. */
  readonly ha?: { readonly failures: number; readonly protects: number };
}

function randomPool(seed: number): RandomPool {
  const random = seededRandom(seed);
  const hosts = 2 + random(5);
  const parallel = random(hosts);
  const vms = 2 + random(6 * hosts);
  const migrateBack = random(2) === 0;
  const shutdownPinnedVms = random(2) === 0;
  const hasHa = random(5) < 2;
  return {
    seed,
    hosts,
    vms,
    request: {
      ...(parallel === 0 ? {} : { parallel }),
      migrateBack,
      shutdownPinnedVms,
    },
    ...(hasHa ? { ha: { failures: random(3), protects: random(11) } } : {}),
  };
}

const all = Array.from({ length: POOLS }, (_, i) => randomPool(FIRST + i));
const batches = Array.from({ length: Math.ceil(POOLS / AT_ONCE) }, (_, i) =>
  all.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
);
const counts = {
  pools: 0,
  vms: 0,
  moves: 0,
  refused: 0,
  resumed: 0,
  ha: 0,
  protectedVms: 0,
};

function hasHa({ db }: FastPool): boolean {
  return [...db.records("pool")][0]![1]["ha_enabled"] === true;
}

/**
 * Enables HA. Refusals of the pool are accepted: a host without a shared SR, VMs
 * that cannot be restarted elsewhere, too many failures.
 */
async function enableHa(
  api: FastPools["api"],
  pool: FastPool,
  { failures, protects }: NonNullable<RandomPool["ha"]>,
): Promise<void> {
  await api.call("pool.enableHa", { pool: pool.id, heartbeatSrs: [] });
  if (!hasHa(pool)) return;
  counts.ha++;
  const running = new PoolLog(pool.db).running();
  for (const [i, ref] of running.entries()) {
    if (i % 10 >= protects) continue;
    const id = pool.db.get("VM", ref)["uuid"];
    await api.call("vm.set", { id, high_availability: "restart" });
    if (pool.db.get("VM", ref)["ha_restart_priority"] === "restart")
      counts.protectedVms++;
  }
  await api.call("pool.setHaHostFailures", {
    pool: pool.id,
    hostFailuresToTolerate: failures,
  });
}

/** Problems of a pool after its update. */
function problemsOf(
  pool: FastPool,
  log: PoolLog,
  request: Request,
): readonly string[] {
  const running = new Set(log.running());
  const hosts = [...pool.db.records("host")];
  return [
    ...log.watched
      .filter((ref) => !running.has(ref))
      .map((ref) => `VM ${ref} does not run`),
    // Planned shutdowns of VMs that cannot be moved.
    ...(request.shutdownPinnedVms ? [] : log.lost),
    ...hosts
      .filter(([, { enabled }]) => enabled !== true)
      .map(([ref]) => `host ${ref} is disabled`),
    ...pool.guard.violations.map((wrong) => JSON.stringify(wrong)),
  ];
}

/** What rolling updates disable and are to restore. */
function restoredProblem(pool: FastPool, hadHa: boolean): readonly string[] {
  return hasHa(pool) === hadHa ? [] : ["HA is not as before"];
}

interface Ended {
  readonly status: string;
  readonly result?: {
    readonly code?: string;
    readonly message?: string;
    readonly data?: { readonly vms?: readonly { readonly id: string }[] };
  };
}

async function update(
  api: FastPools["api"],
  { id }: FastPool,
  request: Request,
): Promise<Ended> {
  const path = `/pools/${id}/actions/rolling_update`;
  const begun = await api.rest("POST", path, request);
  const { taskId } = (await begun.json()) as { taskId: string };
  const ended = await api.rest("GET", `/tasks/${taskId}?wait=true`);
  return (await ended.json()) as Ended;
}

/** The machine is too slow for the accelerated time: a connection was idle for 10 s of it before its request. */
const TOO_SLOW = /Request Timeout/;

/** As administrators do with VMs that cannot be moved. */
async function shutDown(api: FastPools["api"], { result }: Ended) {
  for (const { id } of result?.data?.vms ?? [])
    for (;;) {
      const { error } = await api.call("vm.stop", { id, force: true });
      if (error === undefined) break;
      if (!TOO_SLOW.test(error.message)) throw new Error(error.message);
    }
}

/** Updates a pool; VMs because of which that is refused are shut down before. */
async function updateOne(
  t: Test,
  api: FastPools["api"],
  pool: FastPool,
  { seed, request, ha }: RandomPool,
): Promise<void> {
  counts.pools++;
  if (ha !== undefined) await enableHa(api, pool, ha);
  const hadHa = hasHa(pool);
  // Hosts that have their update when it is continued are counted too.
  let log = new PoolLog(pool.db);
  for (;;) {
    const ended = await update(api, pool, request);
    const { status, result } = ended;
    const about = `${seed}: ${status} ${result?.code ?? ""}`;
    const problems = [
      ...problemsOf(pool, log, request),
      ...restoredProblem(pool, hadHa),
    ];
    t.same(problems, [], about);
    if (result?.code === "VMS_CANNOT_LEAVE") {
      t.same(log.moves, [], `${seed}: nothing was begun`);
      counts.refused++;
      await shutDown(api, ended);
      log = new PoolLog(pool.db);
      continue;
    }
    if (status !== "success" && TOO_SLOW.test(result?.message ?? "")) {
      counts.resumed++;
      continue;
    }
    counts.vms += log.watched.length;
    counts.moves += log.moves.length;
    t.equal(status, "success", `${about} ${result?.message ?? ""}`);
    t.ok(log.areAllUpdated, `${seed}: all hosts are updated`);
    return;
  }
}

for (const batch of chosenRows(batches)) {
  const seeds = `${batch[0]!.seed} to ${batch.at(-1)!.seed}`;
  t.test(
    `all VMs run after updates of random pools, seeds ${seeds}`,
    { timeout: 600_000 },
    async (t) => {
      const options = batch.map(({ seed, hosts, vms }) => {
        const name = `p${seed}`;
        return { seed, hosts, vms, name, pace: 0.1 };
      });
      const fast = { factor: FACTOR, xapi: XAPI, settings: SETTINGS };
      const { api, pools } = await startFast(t, fast, ...options);
      await Promise.all(
        pools.map((pool, i) => updateOne(t, api, pool, batch[i]!)),
      );
    },
  );
}

t.teardown(() => {
  t.comment(JSON.stringify(counts));
});
