import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

t.test("interfaces and networks are worked on", LIMIT, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, untilGone } = bench;
  const [pool] = await list("pools");
  const [running] = await list("vms", "power_state:Running");
  const [halted] = await list("vms", "power_state:Halted");
  const [trunk] = await list("pifs", "device:/^eth1$/ vlan:-1");
  const one = async (folder: string, id: string) =>
    (await admin.rest("GET", `/${folder}/${id}`)).body as Row;
  const act = async (path: string, body: object = {}) => {
    const answer = await admin.rest("POST", `${path}?sync=true`, body);
    return { status: answer.status, body: answer.body as unknown };
  };
  let office = "";

  t.test("a VLAN is created on all hosts, changed, and deleted", async (t) => {
    const vlan = { pif: trunk!.id, vlan: 77, mtu: 9000, nbd: true };
    office = await admin.request<string>("network.create", {
      pool: pool!.id,
      name: "office",
      description: "d",
      ...vlan,
    });
    const shown = { MTU: 9000, nbd: true, automatic: false };
    t.match(await one("networks", office), { name_label: "office", ...shown });
    const pifs = await list("pifs", `$network:${office}`);
    t.match(pifs, [{ vlan: 77 }, { vlan: 77 }, { vlan: 77 }]);
    const again = { pool: pool!.id, name: "again", ...vlan };
    t.match(await admin.call("network.create", again), {
      error: { code: 16, message: "VLAN 77 on this PIF already exists" },
    });
    await untilGone("networks", "name_label:/^again$/");
    const trunkless = { pool: pool!.id, name: "trunkless", vlan: 78 };
    t.match(await admin.call("network.create", trunkless), {
      error: { code: 10, data: { reason: /vlan 78 needs pif/ } },
    });
    t.same(await list("networks", "name_label:/^trunkless$/"), []);
    await admin.request("network.set", {
      id: office,
      name_label: "desk",
      automatic: true,
      nbd: false,
      defaultIsLocked: true,
    });
    t.match(await one("networks", office), {
      name_label: "desk",
      automatic: true,
      nbd: false,
      defaultIsLocked: true,
    });
    await admin.request("pif.editPif", { id: pifs[0]!.id, vlan: 78 });
    t.equal((await list("pifs", `$network:${office} vlan:78`)).length, 3);
  });

  t.test("pools create networks over REST", async (t) => {
    const path = `/pools/${pool!.id}/actions`;
    const created = await act(`${path}/create_network`, {
      name: "rest",
      pif: trunk!.id,
      vlan: 80,
    });
    t.equal(created.status, 201);
    const { id } = created.body as Row;
    t.match(await one("networks", id), { name_label: "rest" });
    t.equal((await admin.rest("DELETE", `/networks/${id}`)).status, 204);
    t.same(await list("pifs", "vlan:80"), [], "with its VLANs");
    const inner = await act(`${path}/create_internal_network`, {
      name: "inner",
    });
    t.equal(inner.status, 201);
    const { id: internal } = inner.body as Row;
    t.match(await one("networks", internal), { PIFs: [] });
    t.equal((await admin.rest("DELETE", `/networks/${internal}`)).status, 204);
    const [management] = await list("networks", "name_label:eth1");
    const refused = await admin.rest("DELETE", `/networks/${management!.id}`);
    t.match(refused.body, { error: /NETWORK_CONTAINS_PIF/ });
  });

  t.test("an interface is added to a VM, changed and removed", async (t) => {
    const params = { vmId: running!.id, networkId: office, device: "6" };
    const created = await admin.rest("POST", "/vifs", params);
    t.equal(created.status, 201);
    const { id } = created.body as Row;
    t.match(await one("vifs", id), {
      $VM: running!.id,
      $network: office,
      device: "6",
      attached: false,
    });
    t.equal((await act(`/vifs/${id}/actions/connect`)).status, 204);
    t.match(await one("vifs", id), { attached: true });
    const busy = await admin.rest("DELETE", `/networks/${office}`);
    t.match(busy.body, { error: /NETWORK_CONTAINS_VIF/ });
    t.equal((await list("pifs", `$network:${office}`)).length, 3);
    const change = {
      lockingMode: "locked",
      rateLimit: 500,
      txChecksumming: false,
      allowedIpv4Addresses: ["192.0.2.7"],
    };
    t.equal((await admin.rest("PATCH", `/vifs/${id}`, change)).status, 204);
    t.match(await one("vifs", id), change);
    await admin.request("vif.set", {
      id,
      rateLimit: null,
      txChecksumming: true,
    });
    const free = await one("vifs", id);
    t.match(free, { txChecksumming: true });
    t.equal(free["rateLimit"], undefined);
    const [other] = await list("networks", "name_label:eth1");
    await admin.request("vif.set", { id, network: other!.id });
    t.match(await one("vifs", id), { $network: other!.id });

    const mac = "02:00:00:00:00:07";
    await admin.request("vif.set", { id, mac });
    const [moved] = await list("vifs", `MAC:"${mac}"`);
    t.match(moved, { $VM: running!.id, device: "6", attached: true });
    await admin.request("vif.disconnect", { id: moved!.id });
    t.equal((await admin.rest("DELETE", `/vifs/${moved!.id}`)).status, 204);
    t.same(await admin.request("vif.getLockingModeValues"), [
      "network_default",
      "locked",
      "unlocked",
      "disabled",
    ]);
  });

  t.test("a network without running VMs is deleted", async (t) => {
    await admin.request("network.delete", { id: office });
    t.equal((await admin.rest("GET", `/networks/${office}`)).status, 404);
    t.same(await list("pifs", "vlan:78"), []);
  });

  t.test("PIFs go down and up, and get addresses", async (t) => {
    const id = trunk!.id;
    await admin.request("pif.disconnect", { id });
    t.match(await one("pifs", id), { attached: false });
    await admin.request("pif.connect", { id });
    const address = { ip: "192.0.2.20", netmask: "255.255.255.0" };
    await admin.request("pif.reconfigureIp", {
      id,
      mode: "Static",
      ...address,
    });
    t.match(await one("pifs", id), { mode: "Static", ...address });
    t.match(await admin.call("pif.delete", { id }), {
      error: { message: /PIF_IS_PHYSICAL/ },
    });
    const [management] = await list("pifs", "management?");
    t.match(await admin.call("pif.disconnect", { id: management!.id }), {
      error: { message: /PIF_IS_MANAGEMENT_INTERFACE/ },
    });
  });

  t.test("bonds are created on every host", async (t) => {
    const modes = ["balance-slb", "active-backup", "lacp"];
    t.same(await admin.request("network.getBondModes"), modes);
    const [host] = await list("hosts");
    const [bond] = await list("pifs", `isBondMaster? $host:${host!.id}`);
    const [managed] = await list(
      "networks",
      `id:"${String(bond!["$network"])}"`,
    );
    t.match(managed, { isBonded: true });
    const pifs = bond!["bondSlaves"];
    const params = { pool: pool!.id, name: "b", pifs, bondMode: "lacp" };
    t.match(await admin.call("network.createBonded", params), {
      error: { message: /PIF_ALREADY_BONDED/ },
    });
    await untilGone("networks", "name_label:/^b$/");
  });

  t.test("without a right to an object no operation is allowed", async (t) => {
    const [vif] = await list("vifs", `$VM:${halted!.id}`);
    const [network] = await list("networks", "name_label:eth1");
    const eve = await bench.addUser("eve", {
      [pool!.id]: "viewer",
      [vif!.id]: "viewer",
      [trunk!.id]: "viewer",
    });
    const id = network!.id;
    const calls: [string, object][] = [
      ["network.create", { pool: pool!.id, name: "x" }],
      ["network.createInternal", { pool: pool!.id, name: "x" }],
      ["network.set", { id, name_label: "x" }],
      ["network.delete", { id }],
      ["vif.connect", { id: vif!.id }],
      ["vif.disconnect", { id: vif!.id }],
      ["vif.set", { id: vif!.id, rateLimit: 1 }],
      ["vif.delete", { id: vif!.id }],
      ["pif.connect", { id: trunk!.id }],
      ["pif.disconnect", { id: trunk!.id }],
      ["pif.reconfigureIp", { id: trunk!.id, mode: "None" }],
      ["pif.editPif", { id: trunk!.id, vlan: 5 }],
    ];
    for (const [method, params] of calls)
      t.match(await eve.call(method, params), { error: { code: 2 } }, method);
    // The second object counts, too.
    const mallory = await bench.addUser("mallory", {
      [halted!.id]: "admin",
      [id]: "viewer",
    });
    const params = { vmId: halted!.id, networkId: id };
    t.equal((await mallory.rest("POST", "/vifs", params)).status, 403);
  });
});
