import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";

type Texts = readonly string[];

function poolOf({ db }: TestPool) {
  return [...db.records("pool")][0]!;
}

function sharedSr({ db }: TestPool): string {
  return [...db.records("SR")].find(
    ([, sr]) => sr["shared"] === true && sr["type"] === "nfs",
  )![0];
}

/** Protects running, agile VMs by HA, and no others. @param count of VMs @returns their references */
function protect(pool: TestPool, count: number): readonly string[] {
  const { db } = pool;
  const agile = [...db.records("VM")].filter(
    ([, vm]) =>
      vm["power_state"] === "Running" &&
      vm["is_control_domain"] === false &&
      (vm["VBDs"] as Texts).every((vbd) => {
        const vdi = db.find("VDI", db.get("VBD", vbd)["VDI"] as string);
        return vdi === undefined || db.get("SR", vdi["SR"] as string)["shared"];
      }),
  );
  const chosen = agile.slice(0, count).map(([ref]) => ref);
  for (const ref of db.refs("VM"))
    db.update("VM", ref, {
      ha_restart_priority: chosen.includes(ref) ? "restart" : "",
    });
  return chosen;
}

t.test(
  "HA is enabled with statefiles, and disabled without a trace",
  async (t) => {
    const pool = createTestPool();
    const { call, db, failure } = pool;
    protect(pool, 3);
    const disks = db.count("VDI");
    const sr = sharedSr(pool);
    const used = db.get("SR", sr)["physical_utilisation"];
    await call("pool.enable_ha", [sr], {});
    const [, record] = poolOf(pool);
    t.equal(record["ha_enabled"], true);
    const [statefile] = record["ha_statefiles"] as Texts;
    t.match(db.get("VDI", statefile!), { type: "ha_statefile", SR: sr });
    for (const [, host] of db.records("host"))
      t.strictSame(host["ha_statefiles"], [statefile]);
    t.strictSame(await failure("pool.enable_ha", [sr], {}), ["HA_IS_ENABLED"]);
    await call("pool.disable_ha");
    t.equal(db.count("VDI"), disks);
    t.equal(db.get("SR", sr)["physical_utilisation"], used);
    t.strictSame(await failure("pool.disable_ha"), ["HA_NOT_ENABLED"]);
  },
);

t.test("missing preconditions of HA are reported", async (t) => {
  const pool = createTestPool();
  const { db, failure } = pool;
  const sr = sharedSr(pool);
  const [local] = [...db.records("SR")].find(([, r]) => r["type"] === "ext")!;
  t.strictSame(await failure("pool.enable_ha", [local], {}), [
    "HA_CONSTRAINT_VIOLATION_SR_NOT_SHARED",
    local,
  ]);
  const [iso] = [...db.records("SR")].find(
    ([, r]) => r["type"] === "iso" && r["shared"] === true,
  )!;
  t.strictSame(await failure("pool.enable_ha", [iso], {}), [
    "SR_OPERATION_NOT_SUPPORTED",
    iso,
  ]);
  const [pbd] = db.get("SR", sr)["PBDs"] as Texts;
  db.update("PBD", pbd!, { currently_attached: false });
  t.strictSame(await failure("pool.enable_ha", [sr], {}), [
    "HA_HOST_CANNOT_ACCESS_STATEFILE",
  ]);
  db.update("PBD", pbd!, { currently_attached: true });
  const [host, record] = [...db.records("host")][1]!;
  db.update("host_metrics", record["metrics"] as string, { live: false });
  t.strictSame(await failure("pool.enable_ha", [sr], {}), [
    "HOST_OFFLINE",
    host,
  ]);
  const [ref, { restrictions }] = poolOf(pool);
  db.update("pool", ref, {
    restrictions: { ...(restrictions as object), restrict_ha: "true" },
  });
  t.strictSame(await failure("pool.enable_ha", [sr], {}), [
    "LICENCE_RESTRICTION",
    "HA",
  ]);
});

t.test(
  "the number of tolerated host failures is computed from memory",
  async (t) => {
    const pool = createTestPool();
    const { call, db, failure } = pool;
    const [ref] = poolOf(pool);
    protect(pool, 6);
    const most = (await call(
      "pool.ha_compute_max_host_failures_to_tolerate",
    )) as number;
    t.ok(most >= 1);
    t.equal(await call("pool.ha_failover_plan_exists", most), true);
    t.equal(await call("pool.ha_failover_plan_exists", most + 1), false);
    await call("pool.enable_ha", [sharedSr(pool)], {});
    await call("pool.set_ha_host_failures_to_tolerate", ref, most);
    t.strictSame(
      await failure("pool.set_ha_host_failures_to_tolerate", ref, most + 1),
      ["HA_NO_PLAN"],
    );
    for (const metrics of db.refs("host_metrics"))
      db.update("host_metrics", metrics, { memory_free: 1 });
    t.equal(await call("pool.ha_compute_max_host_failures_to_tolerate"), 0);
    const host = [...db.refs("host")][1]!;
    t.strictSame(await failure("host.disable", host), [
      "HA_OPERATION_WOULD_BREAK_FAILOVER_PLAN",
    ]);
    t.equal(db.get("host", host)["enabled"], true);
    await call("pool.disable_ha");
    t.strictSame(await failure("pool.enable_ha", [sharedSr(pool)], {}), [
      "HA_NO_PLAN",
    ]);
  },
);

t.test("a large pool answers how many hosts may fail at once", async (t) => {
  const pool = createTestPool({ hosts: 64, vms: 4_000 });
  const { call, db } = pool;
  for (const ref of db.refs("VM"))
    db.update("VM", ref, { ha_restart_priority: "restart" });
  const start = performance.now();
  const most = (await call(
    "pool.ha_compute_max_host_failures_to_tolerate",
  )) as number;
  // It took minutes, in which no pool of the process answered.
  t.ok(performance.now() - start < 5_000);
  t.equal(await call("pool.ha_failover_plan_exists", most), true);
  t.equal(await call("pool.ha_failover_plan_exists", most + 1), false);
});

t.test("only a VM that can start anywhere is protected", async (t) => {
  const pool = createTestPool();
  const { call, db, failure } = pool;
  const [vm] = protect(pool, 1);
  await call("pool.enable_ha", [sharedSr(pool)], {});
  t.strictSame(await failure("VM.set_ha_restart_priority", vm!, "always"), [
    "INVALID_VALUE",
    "ha_restart_priority",
    "always",
  ]);
  await call("VM.set_ha_restart_priority", vm!, "best-effort");
  await call("VM.set_ha_restart_priority", vm!, "restart");
  const [local] = [...db.records("SR")].find(([, r]) => r["type"] === "ext")!;
  const vbd = (db.get("VM", vm!)["VBDs"] as Texts).find(
    (ref) => db.get("VBD", ref)["type"] === "Disk",
  )!;
  db.update("VDI", db.get("VBD", vbd)["VDI"] as string, { SR: local });
  t.strictSame(await failure("VM.set_ha_restart_priority", vm!, "restart"), [
    "HA_CONSTRAINT_VIOLATION_SR_NOT_SHARED",
    local,
  ]);
});
