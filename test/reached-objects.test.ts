import t, { type Test } from "tap";
import type { ApiSession, Privilege, Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;

const FORBIDDEN = { error: { code: 2 } };
const MISSING = { error: { code: 1 } };

t.test("rights on objects that operations reach", async (t) => {
  const bench = await setUp(t);

  await t.test("plans do not name VMs that one may not read", (t) =>
    namesInPlans(t, bench),
  );

  await t.test("the id of a hidden VM gives no access", (t) =>
    hiddenVm(t, bench),
  );

  await t.test("a right on a network is not a right on its VIFs", (t) =>
    vifsOfNetwork(t, bench),
  );

  await t.test("allowed addresses need a right on the network", (t) =>
    allowedAddresses(t, bench),
  );

  await t.test("a CD drive accepts ISO images, not other disks", (t) =>
    imagesInCdDrive(t, bench),
  );

  await t.test("disks on the default SR need the right on it", (t) =>
    defaultSr(t, bench),
  );

  await t.test("vm.import needs a right on the pool", (t) =>
    importIntoPool(t, bench),
  );

  await t.test("placement.apply needs rights on VMs and hosts", (t) =>
    appliedPlan(t, bench),
  );

  await t.test("a denial includes the devices of the VM", (t) =>
    deniedDevices(t, bench),
  );

  await t.test("secrets of guests are masked", (t) => maskedSecrets(t, bench));

  await t.test("a paused VM is unpaused without a failed task", (t) =>
    pausedVm(t, bench),
  );

  await t.test("force: false does not delete a running VM", (t) =>
    deletionWithoutForce(t, bench),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const size = { hosts: 2, vms: 6 };
  const { api, calls, record } = await startControlled(t, size);
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const vms = (await api.all({ type: "VM" })) as readonly Thing[];
  const [foreign, own] = vms as readonly [Thing, Thing];
  const name_label = "Other install media";
  const template = (await one({ type: "VM-template", name_label })).id;
  const pool = (await one({ type: "pool" })) as Thing & {
    readonly default_SR: string;
  };
  const srs = await api.all({ type: "SR" });
  const isoSrs = srs
    .filter(({ content_type }) => content_type === "iso")
    .map(({ id }) => id);
  const iso = (await api.all({ type: "VDI" })).find(({ $SR }) =>
    isoSrs.includes(String($SR)),
  )!.id;
  const vbds = await api.all({ type: "VBD", VM: foreign.id });
  const disk = vbds.find(({ is_cd_drive }) => is_cd_drive === false)!;
  const vif = await one({ type: "VIF", $VM: foreign.id });
  const network = String(vif["$network"]);

  let count = 0;
  const signUp = async (
    privileges: readonly Privilege[],
    acls: readonly { readonly object: string; readonly action: string }[] = [],
  ) => {
    const rights = { privileges, acls };
    return (await api.signUp(t, `user${++count}`, rights)).session;
  };
  const read = { resource: "*", action: "read" };
  const countVms = async () => (await api.all({ type: "VM" })).length;
  return {
    vms,
    signUp,
    pool,
    api,
    network,
    vif,
    own,
    one,
    read,
    record,
    disk,
    calls,
    countVms,
    template,
    iso,
    foreign,
  };
}

async function namesInPlans(t: Test, { vms, signUp, pool, api }: Bench) {
  const host = String(
    vms.find(({ power_state }) => power_state === "Running")!["$container"],
  );
  const user = await signUp([
    { resource: "pool", action: "read" },
    { resource: "host", action: "read" },
  ]);
  const ids = vms.map(({ id }) => id);
  const namesAny = (plan: unknown) =>
    ids.some((id) => JSON.stringify(plan).includes(id));
  for (const [method, params] of [
    ["placement.planEvacuation", { hosts: [host] }],
    ["placement.planFailover", { pool: pool.id, hosts: [host] }],
  ] as const) {
    const plan = await user.request(method, params);
    t.match(JSON.stringify(plan), '"hidden"', method);
    t.notOk(namesAny(plan), method);
    t.ok(namesAny(await api.request(method, params)), "an admin reads the ids");
  }
}

async function hiddenVm(t: Test, { signUp }: Bench) {
  const user = await signUp([{ resource: "host", action: "read" }]);
  const hosts = await user.all({ type: "host" });
  const hidden = hosts.flatMap(
    ({ residentVms }) => residentVms as readonly string[],
  )[0]!;
  const madeUp = "00000000-0000-4000-8000-000000000000";
  t.same(await user.all({ id: hidden }), []);
  for (const method of ["vm.start", "vm.snapshot", "vm.set", "vm.export"]) {
    const answers = await Promise.all(
      [hidden, madeUp].map((id) => user.call(method, { id })),
    );
    const [ofHidden, ofMadeUp] = answers.map(({ error }) =>
      JSON.stringify(error).replaceAll(hidden, madeUp),
    );
    t.equal(ofHidden, ofMadeUp, method);
    t.match(answers[0], MISSING);
  }
}

async function vifsOfNetwork(t: Test, { signUp, network, vif }: Bench) {
  const user = await signUp([], [{ object: network, action: "admin" }]);
  t.same(await user.all({ type: "VIF" }), []);
  for (const [method, params] of [
    ["vif.set", { id: vif.id, rateLimit: 1 }],
    ["vif.disconnect", { id: vif.id }],
    ["vif.delete", { id: vif.id }],
  ] as const)
    t.match(await user.call(method, params), MISSING, method);
  t.ok(await user.get(network), "the network itself");
}

async function allowedAddresses(
  t: Test,
  { signUp, own, one, read, record }: Bench,
) {
  const user = await signUp(
    [{ resource: "network", action: "read" }],
    [{ object: own.id, action: "admin" }],
  );
  const { id, $network } = await one({ type: "VIF", $VM: own.id });
  t.equal(await user.request("vif.set", { id, rateLimit: 100 }), true);
  for (const setting of [
    { lockingMode: "unlocked" },
    { allowedIpv4Addresses: ["192.0.2.1"] },
    { allowedIpv6Addresses: [] },
  ])
    t.match(await user.call("vif.set", { id, ...setting }), FORBIDDEN);
  const operator = await signUp([read, { resource: "VIF", action: "operate" }]);
  for (const setting of [
    { lockingMode: "unlocked" },
    { mac: "02:00:00:00:00:01" },
  ])
    t.match(await operator.call("vif.set", { id, ...setting }), FORBIDDEN);
  const trusted = await signUp(
    [],
    [own.id, String($network)].map((object) => ({ object, action: "admin" })),
  );
  const setting = { allowedIpv4Addresses: ["192.0.2.1"] };
  t.equal(await trusted.request("vif.set", { id, ...setting }), true);
  t.same(record("VIF", id)["ipv4_allowed"], ["192.0.2.1"]);
}

async function imagesInCdDrive(
  t: Test,
  { signUp, read, disk, calls, own, countVms, template, iso }: Bench,
) {
  const user = await signUp([
    read,
    { resource: "VM", action: "operate" },
    { resource: "VM-template", action: "administrate:create-vm" },
  ]);
  const cd_id = disk["VDI"];
  calls();
  t.match(await user.call("vm.insertCd", { id: own.id, cd_id, force: true }), {
    error: { code: 2, data: { object: { id: cd_id } } },
  });
  const before = await countVms();
  const install = (repository: unknown) =>
    user.call("vm.create", {
      name_label: "from CD",
      template,
      VDIs: [],
      installation: { method: "cdrom", repository },
    });
  t.match(await install(cd_id), FORBIDDEN);
  t.same(calls(), [], "nothing reached the pool");
  t.equal(await countVms(), before);
  t.equal(
    await user.request("vm.insertCd", {
      id: own.id,
      cd_id: iso,
      force: true,
    }),
    true,
  );
  t.match(await install(iso), { result: /./ });
}

async function defaultSr(t: Test, { signUp, countVms, template, pool }: Bench) {
  const user = await signUp([
    { resource: "VM-template", action: "*" },
    { resource: "pool", action: "read" },
  ]);
  const before = await countVms();
  const create = (more: object) =>
    user.call("vm.create", { name_label: "x", template, ...more });
  const missing = { error: { code: 1, data: { id: pool.default_SR } } };
  t.match(await create({ VDIs: [{ size: GiB }] }), missing);
  t.match(await create({ VDIs: [], cloudConfig: "#cloud-config" }), missing);
  t.equal(await countVms(), before);
  t.match(await create({ VDIs: [] }), { result: /./ }, "without disks");
}

async function importIntoPool(t: Test, { pool, signUp }: Bench) {
  const object = pool.default_SR;
  const user = await signUp(
    [{ resource: "pool", action: "read" }],
    [{ object, action: "admin" }],
  );
  t.match(await user.call("vm.import", { sr: object }), {
    error: { code: 2, data: { object: { id: pool.id } } },
  });
  const importer = await signUp(
    [{ resource: "pool", action: "*" }],
    [{ object, action: "admin" }],
  );
  t.match(await importer.call("vm.import", { sr: object }), {
    result: { $sendTo: /./ },
  });
}

async function appliedPlan(t: Test, { vms, api, pool, calls, signUp }: Bench) {
  const halted = vms.find((vm) => vm["power_state"] === "Halted")!;
  const [to] = (await api.all({ type: "host" })).map(({ id }) => id);
  const planner = [
    { resource: "pool", action: "*" },
    { resource: "host", action: "read" },
  ];
  const start = { kind: "start", vm: halted.id, to };
  const apply = (user: ApiSession, ...actions: readonly object[]) =>
    user.call("placement.apply", { pool: pool.id, actions });
  calls();
  const blind = await signUp(planner);
  t.match(await apply(blind, start), MISSING);
  t.match(await apply(blind, { ...start, vm: "none" }), MISSING);
  const seeing = await signUp([...planner, { resource: "VM", action: "read" }]);
  t.match(await apply(seeing, start), {
    error: { code: 2, data: { object: { id: halted.id } } },
  });
  const denied = await signUp([
    { resource: "*", action: "*" },
    {
      effect: "deny",
      resource: "VM",
      action: "*",
      selector: `id:${halted.id}`,
    },
  ]);
  t.match(await apply(denied, start), MISSING);
  const hostless = await signUp([...planner, { resource: "VM", action: "*" }]);
  t.match(await apply(hostless, start), {
    error: { code: 2, data: { object: { id: to } } },
  });
  t.same(calls(), []);
}

async function deniedDevices(
  t: Test,
  { api, foreign, signUp, disk, iso, calls, vif }: Bench,
) {
  const snapshot = (await api.request("vm.snapshot", {
    id: foreign.id,
  })) as string;
  const user = await signUp([
    { resource: "*", action: "*" },
    {
      effect: "deny",
      resource: "VM",
      action: "*",
      selector: `id:${foreign.id}`,
    },
  ]);
  const all = await api.all({});
  const seen = new Set((await user.all({})).map(({ id }) => id));
  const hidden = all.filter(({ id }) => !seen.has(id));
  const parts = all.filter(
    (object) =>
      [foreign.id, snapshot].includes(object.id) ||
      [foreign.id, snapshot].some((id) =>
        ["$VM", "VM", "$snapshot_of", "vm", "$object"].some(
          (field) => object[field] === id,
        ),
      ),
  );
  t.ok(parts.length > 4);
  for (const { id, type } of parts) t.notOk(seen.has(id), `${type} is hidden`);
  t.ok(
    hidden.some(({ id }) => id === disk["VDI"]),
    "its disk is hidden",
  );
  t.notOk(
    hidden.some(({ id }) => id === iso),
    "the image is not",
  );
  calls();
  for (const [method, params] of [
    ["vm.clone", { id: snapshot, name: "stolen" }],
    ["vm.export", { id: snapshot }],
    ["disk.exportContent", { id: disk["VDI"] }],
    ["vbd.disconnect", { id: disk.id }],
    ["vif.disconnect", { id: vif.id }],
    ["vm.revert", { snapshot }],
  ] as const)
    t.match(await user.call(method, params), MISSING, method);
  t.same(calls(), []);
}

async function maskedSecrets(t: Test, { api, own, record }: Bench) {
  await api.request("vm.set", {
    id: own.id,
    xenStoreData: { "vm-data/password": "canary", "vm-data/role": "web" },
  });
  t.match((await api.get(own.id))["xenStoreData"], {
    "vm-data/password": /^(?!canary)/,
    "vm-data/role": "web",
  });
  t.match(record("VM", own.id)["xenstore_data"], {
    "vm-data/password": "canary",
  });
}

async function pausedVm(t: Test, { vms, api, calls, record }: Bench) {
  const { id } = vms.find((vm) => vm["power_state"] === "Running")!;
  await api.request("vm.pause", { id });
  calls();
  t.equal(await api.request("vm.start", { id }), true);
  t.same(
    calls().filter((name) => name.startsWith("VM.")),
    ["VM.unpause"],
  );
  t.equal(record("VM", id)["power_state"], "Running");
}

async function deletionWithoutForce(
  t: Test,
  { vms, calls, api, record }: Bench,
) {
  const { id } = vms.find((vm) => vm["power_state"] === "Running")!;
  calls();
  t.match(await api.call("vm.delete", { id, force: false }), {
    error: {
      code: 13,
      data: { objectId: id, actual: "running", expected: "halted" },
    },
  });
  t.notOk(calls().includes("VM.destroy"));
  t.equal(record("VM", id)["power_state"], "Running");
  await api.request("vm.stop", { id, force: true });
  t.equal(await api.request("vm.delete", { id, force: false }), true);
}
