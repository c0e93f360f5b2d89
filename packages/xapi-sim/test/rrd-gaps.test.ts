import t from "tap";
import { operations } from "../src/plugins.js";
import { hostMetrics, vmMetrics } from "../src/rrd/metrics.js";
import { makeXport } from "../src/rrd/xport.js";
import { createTestPool, NOW } from "./operations-pool.js";
import { guestOf, startSide } from "./support/two-pools.js";

t.test("a VM that was halted meanwhile has a gap, not zeros", async (t) => {
  const pool = createTestPool();
  let now = NOW;
  const context = {
    ...pool.context,
    clock: { ...pool.context.clock, now: () => now },
  };
  const vm = pool.guest("Running");
  const at = (seconds: number) => {
    const metric = vmMetrics(pool, vm).find(({ name }) => name === "cpu0")!;
    const { rows } = makeXport(
      [{ owner: "vm", uuid: "u", metric }],
      { start: seconds - 5, interval: 5 },
      now / 1000,
    );
    return rows.find((row) => row.t === seconds)!.values[0]!;
  };
  const second = NOW / 1000;
  await operations["VM.hard_shutdown"]!(context, [vm]);
  now += 60_000;
  await operations["VM.start"]!(context, [vm, false, false]);
  now += 60_000;
  const before = at(second - 10);
  t.ok(before >= 0, "the run before is still known");
  t.ok(Number.isNaN(at(second + 30)));
  t.ok(at(second + 90) >= 0);
  await operations["VM.hard_reboot"]!(context, [vm]);
  t.equal(at(second - 10), before, "and after a reboot as well");
});

t.test("a host reports each plugged SR with disks", async (t) => {
  const pool = createTestPool();
  const { db } = pool;
  const [host] = [...db.refs("host")];
  const names = hostMetrics(pool, host!).map(({ name }) => name);
  for (const [, sr] of db.records("SR")) {
    const id = (sr["uuid"] as string).slice(0, 8);
    const here = (sr["PBDs"] as string[]).some(
      (pbd) => db.get("PBD", pbd)["host"] === host,
    );
    const disks = sr["content_type"] === "user" && here;
    t.equal(names.includes(`iops_read_${id}`), disks);
  }
});

t.test(
  "the coordinator keeps the statistics of a VM that has run",
  async (t) => {
    const side = await startSide(t);
    const { db, client, pool } = side;
    const archive = (vm: string) =>
      fetch(
        `${pool.url}/vm_rrd?uuid=${db.get("VM", vm)["uuid"] as string}&json=true&session_id=${client.session}`,
      );
    const vm = guestOf(side, "Running");
    await client.call("VM.hard_shutdown", vm);
    const halted = Date.now() / 1000;
    const answer = await archive(vm);
    t.equal(answer.status, 200);
    const document = (await answer.json()) as {
      lastupdate: string;
      rra: { database: string[][] }[];
    };
    t.ok(Math.abs(Number(document.lastupdate) - halted) < 5, "it ends there");
    t.not(document.rra[0]!.database.at(-1)![0], "NaN");
    const fresh = (await client.call(
      "VM.clone",
      vm,
      "never started",
    )) as string;
    t.equal((await archive(fresh)).status, 404);
  },
);

t.test("data sources have the value of the last row", async (t) => {
  const pool = createTestPool();
  const vm = pool.guest("Running");
  const value = await pool.call("VM.query_data_source", vm, "cpu0");
  const metric = vmMetrics(pool, vm).find(({ name }) => name === "cpu0")!;
  t.equal(value, metric.valueAt(Math.floor(NOW / 5000) * 5));
  const [sr] = [...pool.db.refs("SR")];
  const sources = (await pool.call("SR.get_data_sources", sr!)) as object[];
  t.match(sources, [
    { name_label: "size" },
    { name_label: "physical_utilisation" },
  ]);
  t.match(await pool.failure("SR.query_data_source", sr!, "x"), [
    "INTERNAL_ERROR",
  ]);
});
