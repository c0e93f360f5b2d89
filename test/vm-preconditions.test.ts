import t, { type Test } from "tap";
import type { Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;

t.test("requests that the server sends before any operation", async (t) => {
  const bench = await setUp(t);

  await t.test("a start requires a host with enough memory", (t) =>
    memoryOfHosts(t, bench),
  );

  await t.test(
    "a start requires an enabled host that reaches disks and networks",
    (t) => reachableDisksAndNetworks(t, bench),
  );

  await t.test(
    "a clean shutdown requires guest tools, suspend an SR for the image",
    (t) => guestToolsAndSuspendSr(t, bench),
  );

  await t.test("disks require free space and a free device position", (t) =>
    freeSpaceAndPosition(t, bench),
  );

  await t.test("ids of one pool, and of the right type", (t) =>
    idsAndTypes(t, bench),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const { api, pools, record } = await startControlled(
    t,
    { hosts: 2, vms: 2 },
    { hosts: 2, vms: 2, seed: 7 },
  );
  const pool = pools[0]!;
  const { database } = pool;
  const refOf = (className: string, id: string) =>
    database.byUuid(className, id)!;
  const $pool = (await api.all({ type: "pool" })).find(
    ({ uuid }) => refOf("pool", String(uuid)) !== undefined,
  )!.id;
  const all = async (filter: object, here = true) =>
    (await api.all(filter)).filter((one) => (one["$pool"] === $pool) === here);
  const one = async (filter: object, here = true) =>
    (await all(filter, here))[0] as Thing;
  const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
  const template = (await one(debian)).id;
  const media = { type: "VM-template", name_label: "Other install media" };
  const shared = { type: "SR", shared: true, content_type: "user" };
  const sr = (await one(shared)).id;
  const networks = await all({ type: "network" });
  const [host1, host2] = (await all({ type: "host" })) as [Thing, Thing];
  const local = (await all({ type: "SR", shared: false })).find(
    (one) => one["$container"] === host1.id && one["content_type"] === "user",
  )!;
  const createVm = async (more: object = {}) =>
    (await api.request("vm.create", {
      name_label: "created",
      template,
      CPUs: 1,
      VDIs: [{ SR: sr, size: GiB }],
      ...more,
    })) as string;
  const refuses = async (
    t: Test,
    [method, params]: readonly [string, object],
    expected: object | RegExp,
    what: string,
  ) => {
    const before = database.count("VM");
    const { error, result } = await api.call(method, params);
    const error_ =
      expected instanceof RegExp ? { message: expected } : expected;
    t.match(error, error_, `${what}: ${JSON.stringify(error ?? result)}`);
    t.equal(database.count("VM"), before);
  };
  const moreThanAnyHost = { memoryMax: 2 ** 44, memoryStaticMax: 2 ** 44 };
  return {
    createVm,
    moreThanAnyHost,
    refuses,
    host1,
    api,
    host2,
    local,
    record,
    networks,
    database,
    one,
    media,
    refOf,
    $pool,
    all,
    sr,
    shared,
    debian,
    template,
  };
}

async function memoryOfHosts(
  t: Test,
  { createVm, moreThanAnyHost, refuses, host1, api }: Bench,
) {
  const id = await createVm(moreThanAnyHost);
  await refuses(
    t,
    ["vm.start", { id }],
    { code: 7 },
    "no host has enough memory",
  );
  await refuses(
    t,
    ["vm.start", { id, host: host1.id }],
    /^HOST_NOT_ENOUGH_FREE_MEMORY\(\d+, \d+\)$/,
    "the host has not enough memory",
  );
  await api.request("vm.delete", { id });
}

async function reachableDisksAndNetworks(
  t: Test,
  {
    createVm,
    api,
    host2,
    refuses,
    host1,
    local,
    record,
    networks,
    database,
  }: Bench,
) {
  const id = await createVm();
  await api.request("host.disable", { id: host2.id });
  const disabled = new RegExp(
    `^HOST_DISABLED\\(${String(host2["_xapiRef"])}\\)$`,
  );
  const on = { id, host: host2.id };
  await refuses(t, ["vm.start", on], disabled, "disabled");
  await api.request("vm.start", { id, host: host1.id });
  const move = { vm: id, targetHost: host2.id };
  await refuses(t, ["vm.migrate", move], disabled, "disabled");
  await api.request("host.enable", { id: host2.id });
  await api.request("vm.delete", { id });

  const bound = await createVm({ VDIs: [{ SR: local.id, size: GiB }] });
  await refuses(
    t,
    ["vm.start", { id: bound, host: host2.id }],
    /^VM_REQUIRES_SR\(OpaqueRef.*, OpaqueRef.*\)$/,
    "its disk is elsewhere",
  );
  t.equal(record("VM", bound)["power_state"], "Halted");
  const requested = { vm: bound, targetHost: host2.id };
  await api.request("vm.migrate", requested);
  t.ok(
    await api.request("vm.start", { id: bound, host: host2.id }),
    "a halted VM moves with its disks where the host does not see them",
  );
  await api.request("vm.delete", { id: bound });

  const partlyConnected = networks.find(
    ({ PIFs }) => (PIFs as string[]).length > 1,
  )!;
  const { PIFs } = record("network", partlyConnected.id) as {
    PIFs: string[];
  };
  for (const pif of PIFs)
    if (database.get("PIF", pif)["host"] === host2["_xapiRef"])
      database.destroy("PIF", pif);
  const connected = await createVm({
    VIFs: [{ network: partlyConnected.id }],
  });
  await refuses(
    t,
    ["vm.start", { id: connected, host: host2.id }],
    /^VM_REQUIRES_NETWORK/,
    "its network is elsewhere",
  );
  await api.request("vm.delete", { id: connected });
}

async function guestToolsAndSuspendSr(
  t: Test,
  { createVm, one, media, refuses, api, refOf, $pool, database }: Bench,
) {
  const withoutTools = await createVm({
    template: (await one(media)).id,
    bootAfterCreate: true,
  });
  for (const method of ["vm.stop", "vm.restart", "vm.suspend"])
    await refuses(
      t,
      [method, { id: withoutTools }],
      { code: 14, data: { objectId: withoutTools } },
      method,
    );
  await api.request("vm.delete", { id: withoutTools });
  const id = await createVm({ bootAfterCreate: true });
  const poolRef = refOf("pool", String((await api.get($pool))["uuid"]));
  const { suspend_image_SR } = database.get("pool", poolRef);
  const NONE = "OpaqueRef:NULL";
  database.update("pool", poolRef, { suspend_image_SR: NONE });
  database.update("VM", refOf("VM", id), { suspend_SR: NONE });
  await refuses(
    t,
    ["vm.suspend", { id }],
    /^VM_NO_SUSPEND_SR/,
    "no SR for the suspend image",
  );
  database.update("pool", poolRef, { suspend_image_SR: suspend_image_SR! });
  await api.request("vm.delete", { id });
}

async function freeSpaceAndPosition(
  t: Test,
  { createVm, refOf, local, database, host1, refuses, api, all, sr }: Bench,
) {
  const id = await createVm({ bootAfterCreate: true });
  const source = await createVm();
  const full = { physical_utilisation: 2 ** 40, physical_size: 2 ** 40 };
  const localRef = refOf("SR", local.id);
  database.update("SR", localRef, full);
  const move = { vm: source, targetHost: host1.id, sr: local.id };
  await refuses(
    t,
    ["vm.migrate", move],
    /^SR_FULL\(\d+, 0\)$/,
    "the SR is full",
  );
  await api.request("vm.delete", { id: source });
  const [vbd] = await all({ type: "VBD", VM: id, is_cd_drive: false });
  const disk = { name: "second", size: GiB, sr };
  const vdi = (await api.request("disk.create", disk)) as string;
  const again = { vm: id, vdi, position: String(vbd!["position"]) };
  await refuses(
    t,
    ["vm.attachDisk", again],
    /^DEVICE_ALREADY_EXISTS\(\d+\)$/,
    "the position is in use",
  );
  await api.request("vdi.delete", { id: vdi });
  t.equal((await all({ type: "VIF", $VM: id })).length, 0);
  await api.request("vm.delete", { id });
}

async function idsAndTypes(t: Test, bench: Bench) {
  const { createVm, database, api } = bench;
  const id = await createVm();
  const { generation } = database;
  await idsOfOtherPool(t, bench, id);
  await idsOfOtherTypes(t, bench, id);
  await invalidParameters(t, bench, id);
  t.equal(database.generation, generation, "the pool is as it was");
  await api.request("vm.delete", { id });
}

async function idsOfOtherPool(
  t: Test,
  { one, shared, debian, host1, template, refuses, $pool }: Bench,
  id: string,
) {
  const ofOtherPool = {
    host: (await one({ type: "host" }, false)).id,
    sr: (await one(shared, false)).id,
    network: (await one({ type: "network" }, false)).id,
    vdi: (await one({ type: "VDI" }, false)).id,
    template: (await one(debian, false)).id,
  };
  const inOtherPool = { code: 10, data: { reason: /is in another pool/ } };
  const { host, network, vdi } = ofOtherPool;
  for (const call of [
    ["vm.start", { id, host }],
    ["vm.set", { id, affinityHost: host }],
    ["vm.set", { id, suspendSr: ofOtherPool.sr }],
    ["vm.attachDisk", { vm: id, vdi }],
    ["vm.insertCd", { id, cd_id: vdi }],
    ["vm.createInterface", { vm: id, network }],
    [
      "vm.createCloudInitConfigDrive",
      { vm: id, sr: ofOtherPool.sr, config: "x" },
    ],
    ["vm.migrate", { vm: id, targetHost: host1.id, sr: ofOtherPool.sr }],
    ["vm.migrate", { vm: id, targetHost: host1.id, migrationNetwork: network }],
    ["vm.create", { name_label: "x", template, VIFs: [{ network }] }],
    [
      "vm.create",
      { name_label: "x", template, VDIs: [{ SR: ofOtherPool.sr, size: 1 }] },
    ],
    ["vm.create", { name_label: "x", template, affinityHost: host }],
  ] as const)
    await refuses(t, call, inOtherPool, JSON.stringify(call));
  const crossed = {
    name_label: "x",
    template: ofOtherPool.template,
    pool: $pool,
  };
  await refuses(t, ["vm.create", crossed], { code: 1 }, "template elsewhere");
}

async function idsOfOtherTypes(
  t: Test,
  { host1, host2, refuses, sr }: Bench,
  id: string,
) {
  for (const call of [
    ["vm.start", { id, host: sr }],
    ["vm.attachDisk", { vm: id, vdi: sr }],
    ["vm.insertCd", { id, cd_id: host1.id }],
    ["vm.createInterface", { vm: id, network: sr }],
    ["vm.migrate", { vm: id, targetHost: sr }],
    ["vm.migrate", { vm: host1.id, targetHost: host2.id }],
    ["vm.copy", { vm: id, sr: host1.id }],
    ["vm.clone", { id, name: "x", sr: host1.id }],
    ["vm.revert", { snapshot: id }],
    ["vm.revertSnapshot", { id, snapshot: id }],
    ["vm.convertFromTemplate", { id }],
    ["vm.set", { id, affinityHost: sr }],
    ["vm.set", { id: sr, name_label: "x" }],
    ["vm.delete", { id: sr }],
    ["vm.getCloudInitConfig", { template: id }],
    ["vm.createVgpu", { vm: id, gpuGroup: sr, vgpuType: sr }],
    ["vm.attachPcis", { id, pcis: [sr] }],
  ] as const)
    await refuses(t, call, { code: 1 }, JSON.stringify(call));
}

async function invalidParameters(
  t: Test,
  { host1, template, refuses, sr }: Bench,
  id: string,
) {
  for (const call of [
    ["vm.start", {}],
    ["vm.start", { id: 1 }],
    ["vm.start", { id: "" }],
    ["vm.start", { id: [id] }],
    ["vm.start", { id, paused: "yes" }],
    ["vm.start", { id, unknownParameter: true }],
    ["vm.stop", { id, forceShutdownDelay: -1 }],
    ["vm.set", { id, CPUs: 0 }],
    ["vm.set", { id, CPUs: "two" }],
    ["vm.set", { id, CPUs: 1.5 }],
    ["vm.set", { id, memoryMax: -1 }],
    ["vm.set", { id, memoryMax: "lots" }],
    ["vm.set", { id, memoryMin: 2 ** 50 }],
    ["vm.set", { id, high_availability: "always" }],
    ["vm.set", { id, tags: "one" }],
    ["vm.set", { id, blockedOperations: ["start"] }],
    ["vm.set", { id, tags: ["x"], blockedOperations: { nonsense: "x" } }],
    ["vm.set", { id, virtualizationMode: "magic" }],
    ["vm.setBootOrder", { vm: id, order: "abc" }],
    ["vm.snapshot", { id, name: "" }],
    ["vm.migrate", { vm: id, targetHost: host1.id, mapVdisSrs: [sr] }],
    ["vm.create", { name_label: "x" }],
    ["vm.create", { name_label: "x", template, VDIs: [{ SR: sr }] }],
    ["vm.create", { name_label: "x", template, VDIs: { SR: sr } }],
    ["vm.create", { name_label: "x", template, VIFs: [{}] }],
    ["vm.create", { name_label: "x", template, networkConfig: "x" }],
  ] as const)
    await refuses(t, call, { code: 10 }, JSON.stringify(call));
}
