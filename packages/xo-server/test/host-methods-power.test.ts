import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { BulkRuns } from "../src/bulk/bulk-runs.js";
import { setUp, objects, host, vm } from "./host-pool.js";

t.test("the coordinator shuts down last", async (t) => {
  const { calls, run } = setUp();
  t.equal(await run("pool.emergencyShutdown", { pool: "p" }), true);
  t.same(
    calls.filter((call) => call.startsWith("host.shutdown")),
    ["host.shutdown ref:h2", "host.shutdown ref:h1"],
  );
});

t.test("VMs are read when they are shut down, not all at once", async (t) => {
  const ids = Array.from({ length: 20 }, (_, i) => `many-${i}`);
  const read = new Set<string>();
  let most = 0;
  const { calls, run, fakes } = setUp({
    "VM.suspend": ([ref]) => {
      if (ref === "ref:many-0") fakes.remove("many-19");
      most = Math.max(most, read.size);
      read.delete(String(ref).slice("ref:".length));
    },
  });
  fakes.set(host("h1", { residentVms: ids }));
  for (const id of ids)
    fakes.set({
      ...vm(id),
      get power_state() {
        read.add(id);
        return "Running";
      },
    });
  read.clear();
  await run("host.emergencyShutdownHost", { host: "h1" });
  t.ok(most <= 4, `${most} VMs were read before one was suspended`);
  t.equal(
    calls.filter((call) => call.startsWith("VM.suspend")).length,
    19,
    "a VM that was deleted meanwhile is left out",
  );
  t.equal(calls.at(-1), "host.shutdown ref:h1");
});

t.test("few VMs are shut down in one turn of the event loop", async (t) => {
  const perTurn: number[] = [];
  let started = 0;
  const bulkRuns = new BulkRuns({
    nextTurn: (callback) =>
      setImmediate(() => {
        perTurn.push(started);
        started = 0;
        callback();
      }),
  });
  const { run, fakes } = setUp(
    {
      "VM.suspend"() {
        started++;
        throw new XapiError("VM_LACKS_FEATURE", []);
      },
      "VM.hard_shutdown": () => void started++,
    },
    bulkRuns,
  );
  const ids = (host: string) =>
    Array.from({ length: 200 }, (_, i) => `${host}-${i}`);
  for (const id of ["h1", "h2"]) {
    fakes.set(host(id, { residentVms: ids(id) }));
    for (const one of ids(id)) fakes.set(vm(one));
  }
  t.equal(await run("pool.emergencyShutdown", { pool: "p" }), true);
  const most = Math.max(started, ...perTurn);
  t.ok(most <= 16, `${most} calls in one turn`);
});

t.test("an emergency shutdown ends with the connection", async (t) => {
  const ids = Array.from({ length: 20 }, (_, i) => `many-${i}`);
  const { calls, run, fakes } = setUp({
    "VM.suspend": () => {
      throw new XoError("CLOSED", { what: "P" });
    },
  });
  fakes.set(host("h1", { residentVms: ids }));
  for (const id of ids) fakes.set(vm(id));
  await t.rejects(run("host.emergencyShutdownHost", { host: "h1" }), {
    code: "CLOSED",
  });
  const tried = calls.filter((call) => call.startsWith("VM."));
  t.ok(tried.length <= 4, tried.join(", "));
  t.notOk(calls.includes("host.shutdown ref:h1"));
});

t.test("a host that cannot be evacuated accepts VMs as before", async (t) => {
  const refuse = () => {
    throw new XapiError("HOST_NOT_ENOUGH_FREE_MEMORY", ["1", "0"]);
  };
  const { calls, run } = setUp({ "host.evacuate": refuse });
  await t.rejects(run("host.restart", { id: "h1" }), {
    code: "HOST_NOT_ENOUGH_FREE_MEMORY",
  });
  t.same(calls, [
    "host.get_vms_which_prevent_evacuation ref:h1",
    "host.disable ref:h1",
    "host.evacuate ref:h1",
    "host.enable ref:h1",
  ]);
});

t.test(
  "a VM that cannot be suspended blocks the reboot of its host",
  async (t) => {
    const refuse = () => {
      throw new XapiError("VM_LACKS_FEATURE", ["ref:h2-v"]);
    };
    const { calls, run } = setUp({ "VM.suspend": refuse });
    const params = {
      id: "h2",
      suspendResidentVms: true,
      bypassBlockedSuspend: true,
    };
    await t.rejects(run("host.restart", params), { code: "VM_LACKS_FEATURE" });
    t.same(calls, [
      "VM.remove_from_blocked_operations ref:h2-v suspend",
      "host.disable ref:h2",
      "VM.suspend ref:h2-v",
      "host.enable ref:h2",
      "VM.remove_from_blocked_operations ref:h2-v suspend",
      "VM.add_to_blocked_operations ref:h2-v suspend mine",
    ]);
  },
);

t.test("a new coordinator is waited for", async (t) => {
  const { calls, run, fakes } = setUp({
    "pool.designate_new_master": () => {
      fakes.set({ ...objects[0]!, master: "h2" });
      throw new XoError("CONNECTION_LOST", { address: "h1", reason: "gone" });
    },
  });
  t.equal(await run("pool.setPoolMaster", { host: "h2" }), true);
  t.same(calls, ["pool.designate_new_master ref:h2"]);
  fakes.set(host("h1", { enabled: false }));
  await t.rejects(run("pool.setPoolMaster", { host: "h1" }), {
    code: "INCORRECT_STATE",
    data: { property: "enabled" },
  });
});

t.test("a rolling reboot ends at the first failure", async (t) => {
  const { calls, run } = setUp({
    "host.evacuate": () => {
      throw new XapiError("NO_HOSTS_AVAILABLE", []);
    },
  });
  await t.rejects(run("pool.rollingReboot", { pool: "p" }), {
    code: "STOPPED_MIDWAY",
    data: {
      where: "h1: evacuate",
      done: [],
      left: ["h1", "h2"],
      cause: { code: "NO_HOSTS_AVAILABLE" },
    },
  });
  t.same(
    calls,
    [
      "pool.get_ha_host_failures_to_tolerate ref:p",
      ...["before the start", "before the first host"].flatMap(() => [
        "host.get_vms_which_prevent_evacuation ref:h1",
        "host.get_vms_which_prevent_evacuation ref:h2",
      ]),
      "pool.get_ha_enabled ref:p",
      "host.disable ref:h1",
      "host.evacuate ref:h1",
      "host.enable ref:h1",
    ],
    "the coordinator is the first, and the other one was left alone",
  );
});
