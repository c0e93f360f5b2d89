import t from "tap";
import { hostMetrics, vmMetrics } from "../src/rrd/metrics.js";
import { setLoad } from "../src/rrd/loads.js";
import { moveDomain } from "../src/operations/vm/vm-domain.js";
import { createTestPool, NOW, type TestPool } from "./operations-pool.js";

const now = NOW / 1000;

function cpuOf(pool: TestPool, host: string, at = now): number {
  const metrics = hostMetrics(pool, host);
  return metrics.find(({ name }) => name === "cpu_avg")!.valueAt(at);
}

/** Cores that a VM keeps busy. */
function loadOf(pool: TestPool, vm: string, at = now): number {
  return vmMetrics(pool, vm)
    .filter(({ name }) => /^cpu\d+$/.test(name))
    .reduce((sum, metric) => sum + metric.valueAt(at), 0);
}

function threads({ db }: TestPool, host: string): number {
  return (db.get("host", host)["host_CPUs"] as string[]).length;
}

t.test("a host inherits the restrictions of its VMs", async (t) => {
  const pool = createTestPool();
  for (const [ref, host] of pool.db.records("host")) {
    const sum = (host["resident_VMs"] as string[])
      .map((vm) => loadOf(pool, vm))
      .reduce((a, b) => a + b, 0);
    const cores = threads(pool, ref);
    t.ok(sum > 0 && sum < cores);
    t.ok(Math.abs(cpuOf(pool, ref) * cores - sum) < 1e-6);
    const each = hostMetrics(pool, ref)
      .filter(({ name }) => /^cpu\d+$/.test(name))
      .map((metric) => metric.valueAt(now));
    t.equal(each.length, cores);
    const mean = each.reduce((a, b) => a + b, 0) / cores;
    t.ok(Math.abs(mean - cpuOf(pool, ref)) < 1e-9);
    t.ok(new Set(each).size > cores / 2, "not all alike");
  }
});

t.test("pending operations move with a VM, past ones stay", async (t) => {
  const pool = createTestPool();
  const { db, context } = pool;
  const vm = pool.guest("Running");
  const from = db.get("VM", vm)["resident_on"] as string;
  const to = [...db.refs("host")].find((host) => host !== from)!;
  setLoad(pool, vm, { cores: 1, now: now - 60 });
  const past = now - 30;
  const before = [from, to].map((host) => cpuOf(pool, host, past));
  const present = [from, to].map((host) => cpuOf(pool, host));
  moveDomain(context, vm, to);
  t.same(
    [from, to].map((host) => cpuOf(pool, host, past)),
    before,
  );
  const load = loadOf(pool, vm);
  t.ok(
    Math.abs(cpuOf(pool, from) - present[0]! + load / threads(pool, from)) <
      1e-9,
  );
  t.ok(
    Math.abs(cpuOf(pool, to) - present[1]! - load / threads(pool, to)) < 1e-9,
  );
});

t.test("a stated load applies from then on", async (t) => {
  const pool = createTestPool();
  const { db } = pool;
  const vm = [...db.refs("VM")].find(
    (ref) =>
      pool.vm(ref)["power_state"] === "Running" &&
      pool.vm(ref)["VCPUs_at_startup"] === 4,
  )!;
  const earlier = loadOf(pool, vm, now - 100);
  setLoad(pool, vm, { cores: 3, now: now - 50 });
  t.equal(loadOf(pool, vm, now - 100), earlier);
  for (let at = now - 45; at <= now; at += 5)
    t.ok(Math.abs(loadOf(pool, vm, at) - 3) <= 0.15 + 1e-9);
  t.not(loadOf(pool, vm, now), loadOf(pool, vm, now - 5), "give or take");
  setLoad(pool, vm, { cores: 17, now });
  t.ok(loadOf(pool, vm) <= 4, "no more than it has VCPUs");
  t.throws(() => setLoad(pool, vm, { cores: NaN, now }), RangeError);
  db.update("VM", vm, { other_config: { "sim:load": "1.5" } });
  t.ok(Math.abs(loadOf(pool, vm, now - 100) - 1.5) <= 0.075 + 1e-9);
});

t.test("a halted VM causes no load", async (t) => {
  const pool = createTestPool();
  const { db, call } = pool;
  const vm = pool.guest("Running");
  const host = db.get("VM", vm)["resident_on"] as string;
  const before = cpuOf(pool, host);
  const load = loadOf(pool, vm);
  await call("VM.hard_shutdown", vm);
  const after = cpuOf(pool, host);
  t.ok(Math.abs(before - after - load / threads(pool, host)) < 1e-9);
});
