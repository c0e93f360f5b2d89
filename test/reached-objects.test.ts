import t from "tap";
import { ApiSession, type Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;

interface Privilege {
  readonly effect?: "allow" | "deny";
  readonly resource: string;
  readonly action: string;
  readonly selector?: string;
}

const FORBIDDEN = { error: { code: 2 } };
const MISSING = { error: { code: 1 } };

t.test("rights on objects that operations reach", async (t) => {
  const { api, url, calls, record } = await startControlled(t, {
    hosts: 2,
    vms: 6,
  });
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const vms = (await api.all({ type: "VM" })) as readonly Thing[];
  const [foreign, own] = vms as readonly [Thing, Thing];
  const template = (
    await one({ type: "VM-template", name_label: "Other install media" })
  ).id;
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
    const email = `user${++count}`;
    const password = "a long word";
    const userId = await api.request("user.create", { email, password });
    const roleId = await api.request("role.create", { name: email });
    for (const privilege of privileges)
      await api.request("privilege.create", {
        roleId,
        effect: "allow",
        ...privilege,
      });
    await api.request("role.addToUser", { id: roleId, userId });
    for (const acl of acls)
      await api.request("acl.add", { subject: userId, ...acl });
    return ApiSession.open(t, url, email, password);
  };
  const read = { resource: "*", action: "read" };
  const countVms = async () => (await api.all({ type: "VM" })).length;

  await t.test("plans do not name VMs that one may not read", async (t) => {
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
      t.ok(
        namesAny(await api.request(method, params)),
        "an admin reads the ids",
      );
    }
  });

  await t.test("the id of a hidden VM gives no access", async (t) => {
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
  });

  await t.test("a right on a network is no right on its VIFs", async (t) => {
    const user = await signUp([], [{ object: network, action: "admin" }]);
    t.same(await user.all({ type: "VIF" }), []);
    for (const [method, params] of [
      ["vif.set", { id: vif.id, rateLimit: 1 }],
      ["vif.disconnect", { id: vif.id }],
      ["vif.delete", { id: vif.id }],
    ] as const)
      t.match(await user.call(method, params), MISSING, method);
    t.ok(await user.get(network), "the network itself");
  });

  await t.test("allowed addresses need a right on the network", async (t) => {
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
    const operator = await signUp([
      read,
      { resource: "VIF", action: "operate" },
    ]);
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
  });

  await t.test("a CD drive accepts ISO images, not other disks", async (t) => {
    const user = await signUp([
      read,
      { resource: "VM", action: "operate" },
      { resource: "VM-template", action: "administrate:create-vm" },
    ]);
    const cd_id = disk["VDI"];
    calls();
    t.match(
      await user.call("vm.insertCd", { id: own.id, cd_id, force: true }),
      { error: { code: 2, data: { object: { id: cd_id } } } },
    );
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
  });

  await t.test("disks on the default SR need the right on it", async (t) => {
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
  });

  await t.test("vm.import needs a right on the pool", async (t) => {
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
  });

  await t.test("placement.apply needs rights on VMs and hosts", async (t) => {
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
    const seeing = await signUp([
      ...planner,
      { resource: "VM", action: "read" },
    ]);
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
    const hostless = await signUp([
      ...planner,
      { resource: "VM", action: "*" },
    ]);
    t.match(await apply(hostless, start), {
      error: { code: 2, data: { object: { id: to } } },
    });
    t.same(calls(), []);
  });

  await t.test("a denial includes the devices of the VM", async (t) => {
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
    for (const { id, type } of parts)
      t.notOk(seen.has(id), `${type} is hidden`);
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
  });

  await t.test("secrets of guests are masked", async (t) => {
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
  });

  await t.test("a paused VM is unpaused without a failed task", async (t) => {
    const { id } = vms.find((vm) => vm["power_state"] === "Running")!;
    await api.request("vm.pause", { id });
    calls();
    t.equal(await api.request("vm.start", { id }), true);
    t.same(
      calls().filter((name) => name.startsWith("VM.")),
      ["VM.unpause"],
    );
    t.equal(record("VM", id)["power_state"], "Running");
  });

  await t.test("force: false does not delete a running VM", async (t) => {
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
  });
});
