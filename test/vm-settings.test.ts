import t, { type Test } from "tap";
import { startVmBench, type VmBench } from "./vm-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

const GiB = 2 ** 30;

t.test("settings of VMs are changed", LIMIT, async (t) => {
  const bench = await startVmBench(t);

  await t.test("every setting is set, and read back", (t) =>
    everySetting(t, bench),
  );

  await t.test("text that a pool cannot store is an invalid parameter", (t) =>
    unstorableText(t, bench),
  );

  await t.test("a running VM is changed live, or restarted", (t) =>
    changesOfRunningVm(t, bench),
  );
});

async function unstorableText(t: Test, bench: VmBench) {
  const { make, api } = bench;
  const id = await make("unstorable");
  const reasonOf = async (change: object) =>
    (await api.call("vm.set", { id, ...change })).error;
  t.match(await reasonOf({ name_description: "a\u0001b" }), {
    code: 10,
    data: { reason: /no control characters/ },
  });
  t.match(await reasonOf({ xenStoreData: { "": "x" } }), {
    code: 10,
    data: { reason: /no empty keys/ },
  });
  t.match(await reasonOf({ name_description: "half \ud83d" }), {
    code: 10,
    data: { reason: /half a surrogate pair/ },
  });
  t.ok(await api.request("vm.set", { id, name_description: "a\tb\r\n\ufffe" }));
  t.match(await api.get(id), { name_description: "a\tb\r\n\ufffe" });
}

async function everySetting(t: Test, bench: VmBench) {
  const { make, api, hosts, sr, template } = bench;
  const id = await make("settings");
  t.ok(
    await api.request("vm.set", {
      id,
      name_label: "named",
      name_description: "as requested",
      notes: "kept",
      tags: ["a", "b"],
      auto_poweron: true,
      startDelay: 7,
      high_availability: "restart",
      affinityHost: hosts[1]!.id,
      suspendSr: sr.id,
      CPUs: 3,
      cpusMax: 4,
      coresPerSocket: 2,
      cpuWeight: 512,
      cpuCap: 80,
      cpuMask: [0, 2],
      vga: "cirrus",
      videoram: 16,
      nicType: "e1000",
      viridian: true,
      expNestedHvm: true,
      nestedVirt: true,
      secureBoot: true,
      hvmBootFirmware: "uefi",
      hasVendorDevice: true,
      blockedOperations: { destroy: "no", start: true },
      xenStoreData: { "vm-data/a": "1", "vm-data/b": "2" },
      memory: "3 GiB",
      creation: { user: "ada" },
    }),
  );
  t.match(await api.get(id), {
    name_label: "named",
    name_description: "as requested",
    notes: "kept",
    tags: ["a", "b"],
    auto_poweron: true,
    startDelay: 7,
    high_availability: "restart",
    affinityHost: hosts[1]!.id,
    suspendSr: sr.id,
    CPUs: { number: 3, max: 4 },
    coresPerSocket: 2,
    cpuWeight: 512,
    cpuCap: 80,
    cpuMask: [0, 2],
    vga: "cirrus",
    videoram: 16,
    nicType: "e1000",
    viridian: true,
    expNestedHvm: true,
    isNestedVirtEnabled: true,
    secureBoot: true,
    boot: { firmware: "uefi" },
    hasVendorDevice: true,
    blockedOperations: { destroy: "no", start: "true" },
    xenStoreData: { "vm-data/a": "1", "vm-data/b": "2" },
    memory: { dynamic: [3 * GiB, 3 * GiB], static: [Number, 3 * GiB] },
    creation: { user: "ada", template: template["uuid"], date: /Z$/ },
  });
  await removedSettings(t, bench, id);
  await restAndRefusals(t, bench, id);
  await api.request("vm.delete", { id });
}

async function removedSettings(t: Test, { api }: VmBench, id: string) {
  t.ok(
    await api.request("vm.set", {
      id,
      notes: null,
      affinityHost: null,
      suspendSr: null,
      cpuWeight: null,
      cpuCap: null,
      cpuMask: [],
      nicType: null,
      coresPerSocket: null,
      CPUs: 1,
      cpusMax: 2,
      memoryMin: GiB,
      blockedOperations: { destroy: null, start: false },
      xenStoreData: { "vm-data/a": null },
      auto_poweron: false,
    }),
  );
  const vm = await api.get(id);
  for (const gone of ["notes", "affinityHost", "suspendSr", "nicType"])
    t.notOk(gone in vm, gone);
  for (const gone of ["cpuWeight", "cpuCap", "cpuMask", "coresPerSocket"])
    t.notOk(gone in vm, gone);
  t.match(vm, {
    CPUs: { number: 1, max: 2 },
    auto_poweron: false,
    memory: { dynamic: [GiB, 3 * GiB] },
  });
  t.same(vm["blockedOperations"], {});
  t.same(vm["xenStoreData"], { "vm-data/b": "2" });
}

async function restAndRefusals(t: Test, { api }: VmBench, id: string) {
  const patch = (body: object) => api.rest("PATCH", `/vms/${id}`, body);
  const body = { nameLabel: "patched", cpus: 2, autoPoweron: true };
  t.equal((await patch(body)).status, 204);
  t.match(await (await api.rest("GET", `/vms/${id}`)).json(), {
    name_label: "patched",
    CPUs: { number: 2 },
    auto_poweron: true,
  });
  t.equal((await patch({ name_label: "x" })).status, 422);
  for (const [wrong, reason] of [
    [{ memoryMin: 4 * GiB }, /memoryMin/],
    [{ memoryMax: 4 * GiB, memoryStaticMax: GiB }, /memoryMax/],
    [{ memory: "much" }, /size/],
  ] as const)
    t.match(await api.call("vm.set", { id, ...wrong }), {
      error: { code: 10, data: { reason } },
    });
  await api.request("vm.setBootOrder", { vm: id, order: "nd" });
  t.match(await api.get(id), { boot: { order: "nd", firmware: "uefi" } });
  t.same(await api.request("vm.getHaValues"), ["best-effort", "restart", ""]);
}

async function changesOfRunningVm(t: Test, { make, runs, api }: VmBench) {
  const id = await make("live", { ...runs, CPUs: 1, cpusMax: 4 });
  await api.request("vm.set", { id, CPUs: 3 });
  t.match(await api.get(id), { CPUs: { number: 3, max: 4 } });
  for (const [settings, message] of [
    [{ cpusMax: 8 }, "it has at most 4 vCPUs (cpusMax); shut it down"],
    [{ CPUs: 5 }, "it has at most 4 vCPUs (cpusMax); shut it down"],
    [{ memory: "1 TiB" }, "GiB of memory (memoryStaticMax); shut it down"],
  ] as const) {
    const { error } = await api.call("vm.set", { id, ...settings });
    t.match(error, {
      code: 13,
      data: { code: "VM_NOT_HALTED", actual: "running", objectId: id },
    });
    t.match(error?.message, message);
  }
  const change = { id, cpusMax: 8, force: true };
  t.equal(await api.request("vm.setAndRestart", change), true);
  t.match(await api.get(id), { CPUs: { max: 8 }, power_state: "Running" });
  await api.request("vm.set", {
    id,
    blockedOperations: { hard_shutdown: "x" },
  });
  t.match(await api.call("vm.stop", { id, force: true }), {
    error: { code: 19 },
  });
  const despite = { id, force: true, bypassBlockedOperation: true };
  t.ok(await api.request("vm.stop", despite));
  t.match(await api.get(id), {
    power_state: "Halted",
    blockedOperations: { hard_shutdown: "x" },
  });
  t.ok(await api.request("vm.recoveryStart", { id }));
  t.match(await api.get(id), { power_state: "Running", boot: /./ });
  await api.request("vm.set", {
    id,
    blockedOperations: { hard_shutdown: null },
  });
  t.ok(await api.request("vm.stop", { id, forceShutdownDelay: 10 }));
  t.match(await api.get(id), { power_state: "Halted" });
  await api.request("vm.delete", { id });
}
