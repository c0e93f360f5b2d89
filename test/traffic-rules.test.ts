import t, { type Test } from "tap";
import type { SimulatedPool } from "@xo-server/xapi-sim";
import { ApiSession, type Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

type Flows = ReturnType<SimulatedPool["flows"]>;

const ssh = {
  protocol: "TCP",
  port: 22,
  ipRange: "192.0.2.0/24",
  direction: "from/to",
} as const;

t.test("traffic rules of networks and VIFs", async (t) => {
  const { api, record, pools } = await startControlled(t, {
    hosts: 2,
    vms: 12,
  });
  const [simulated] = pools;
  const hosts = await api.all({ type: "host" });
  const networks = await api.all({ type: "network" });
  const vifs = await api.all({ type: "VIF", attached: true });
  const vif = vifs[0]!;
  const network = networks.find(({ id }) => id === vif["$network"])!;
  const bridge = String(network["bridge"]);
  const { id } = network;
  const flowsOf = (host: Thing) =>
    simulated!.flows(String(host["_xapiRef"]), bridge);
  const flows = () => hosts.map((host) => flowsOf(host).length);
  const stored = (className: string, uuid: string) =>
    (record(className, uuid)["other_config"] as Record<string, string>)[
      "xo:sdn-controller:of-rules"
    ];

  t.test("a rule of a network is added on every host", async (t) => {
    await api.request("network.addTrafficRule", { id, ...ssh, allow: false });
    for (const host of hosts)
      t.match(flowsOf(host), [
        { direction: "from", mac: undefined, port: "22", allow: false },
        { direction: "to", mac: undefined, port: "22", allow: false },
      ]);
    t.equal(
      stored("network", id),
      JSON.stringify([
        '{"allow":false,"protocol":"TCP","port":22,"ipRange":"192.0.2.0/24","direction":"from/to"}',
      ]),
      "as Xen Orchestra stores it",
    );
    t.match(await api.all({ id }), [
      { trafficRules: [{ ...ssh, allow: false }] },
    ]);
  });

  t.test("the same traffic has one rule", async (t) => {
    await api.request("network.addTrafficRule", { id, ...ssh, allow: true });
    for (const host of hosts)
      t.same(
        flowsOf(host).map(({ allow }) => allow),
        [true, true],
      );
    t.match(await api.all({ id }), [
      { trafficRules: [{ ...ssh, allow: true }] },
    ]);
  });

  t.test("a rule of a VIF comes before those of its network", async (t) => {
    const ipRange = "0.0.0.0/0";
    const rule = { ...ssh, ipRange, direction: "to", allow: true };
    await api.request("vif.addTrafficRule", { id: vif.id, ...rule });
    for (const host of hosts) {
      const ofVif = flowsOf(host).filter(({ mac }) => mac !== undefined);
      t.match(ofVif, [
        { mac: String(vif["MAC"]), direction: "to", allow: true },
      ]);
      for (const other of flowsOf(host))
        if (other.mac === undefined) t.ok(ofVif[0]!.priority > other.priority);
    }
    t.match(await api.all({ id: vif.id }), [{ trafficRules: [rule] }]);
    await api.request("vif.deleteTrafficRule", {
      id: vif.id,
      ...ssh,
      ipRange,
      direction: "to",
    });
    t.equal(stored("VIF", vif.id), undefined);
    t.same(flows(), [2, 2]);
  });

  t.test("a deleted rule takes no narrower one with it", async (t) => {
    const wide = { ...ssh, ipRange: "192.0.0.0/16", allow: false };
    await api.request("network.addTrafficRule", { id, ...wide });
    t.same(flows(), [4, 4]);
    const { ipRange } = wide;
    await api.request("network.deleteTrafficRule", { id, ...ssh, ipRange });
    for (const host of hosts)
      t.same(
        flowsOf(host).map(({ ipRange }) => ipRange),
        [ssh.ipRange, ssh.ipRange],
      );
    await api.request("network.deleteTrafficRule", { id, ...ssh });
    t.same(flows(), [0, 0]);
    t.equal(stored("network", id), undefined);
  });

  t.test("what is wrong is refused by its name", async (t) => {
    const rule = { id, ...ssh, allow: true };
    const refused = async (change: object, words: RegExp) => {
      const { error } = await api.call("network.addTrafficRule", {
        ...rule,
        ...change,
      });
      t.equal(error?.code, 10);
      t.match(JSON.stringify(error), words);
    };
    await refused({ port: undefined }, /port is required for TCP/);
    await refused({ protocol: "ICMP" }, /port is for TCP and UDP only/);
    await refused({ protocol: "TCPP" }, /did you mean \\?"TCP\\?"/);
    await refused({ direction: "up" }, /direction must be one of from, to/);
    await refused(
      { ipRange: "192.0.2.0/33" },
      /must be an IPv4 address or net/,
    );
    await refused({ ipRange: "2001:db8::/32" }, /must be an IPv4 address or n/);
    await refused({ allow: "yes" }, /allow must be/);
    const { error } = await api.call("network.deleteTrafficRule", {
      id,
      ...ssh,
    });
    t.match(JSON.stringify(error), /no such rule \(known rules: none\)/);
    t.same(flows(), [0, 0]);
  });

  t.test("REST has the routes of Xen Orchestra", async (t) => {
    const path = `/plugins/sdn-controller/networks/${id}/actions`;
    const body = { ...ssh, allow: false };
    const added = await api.rest(
      "POST",
      `${path}/add_traffic_rule?sync=true`,
      body,
    );
    t.equal(added.status, 204, await added.text());
    t.same(flows(), [2, 2]);
    const deleted = await api.rest(
      "POST",
      `${path}/delete_traffic_rule?sync=true`,
      ssh,
    );
    t.equal(deleted.status, 204, await deleted.text());
    t.same(flows(), [0, 0]);
  });

  t.test("rights on the network decide", async (t: Test) => {
    const { id: userId, session: bob } = await api.signUp(t, "bob", {
      privileges: [
        { resource: "network", action: "read", selector: `id:${id}` },
        { resource: "VIF", action: "read", selector: `id:${vif.id}` },
        {
          resource: "VIF",
          action: "administrate:set",
          selector: `id:${vif.id}`,
        },
      ],
    });
    const rule = { ...ssh, allow: true };
    for (const [method, params] of [
      ["network.addTrafficRule", { id, ...rule }],
      ["network.deleteTrafficRule", { id, ...ssh }],
      ["vif.addTrafficRule", { id: vif.id, ...rule }],
      ["vif.deleteTrafficRule", { id: vif.id, ...ssh }],
    ] as const)
      t.equal((await bob.call(method, params)).error?.code, 2, method);
    t.same(flows(), [0, 0]);
    await api.allow(userId, [
      {
        resource: "network",
        action: "operate:set-locking",
        selector: `id:${id}`,
      },
    ]);
    t.equal(
      await bob.request("vif.addTrafficRule", { id: vif.id, ...rule }),
      true,
    );
    await bob.request("vif.deleteTrafficRule", { id: vif.id, ...ssh });
  });
});

t.test("rules are added again where hosts have lost them", async (t) => {
  const { api, pools } = await startControlled(t, { hosts: 2, vms: 12 });
  const [simulated] = pools;
  const hosts = await api.all({ type: "host" });
  const vifs = await api.all({ type: "VIF", attached: true });
  const vif = vifs[0]!;
  const id = String(vif["$network"]);
  const [network] = await api.all({ id });
  const bridge = String(network!["bridge"]);
  const flowsOf = (host: Thing) =>
    simulated!.flows(String(host["_xapiRef"]), bridge);
  const untilFlows = async (host: Thing, isMet: (all: Flows) => boolean) => {
    while (!isMet(flowsOf(host)))
      await new Promise((resolve) => setTimeout(resolve, 100));
  };
  await api.request("network.addTrafficRule", { id, ...ssh, allow: false });
  await api.request("vif.addTrafficRule", { id: vif.id, ...ssh, allow: true });

  t.test("after a boot", async (t) => {
    const [, last] = hosts;
    const ref = String(last!["_xapiRef"]);
    simulated!.killHost(ref);
    await untilHalted(api, last!.id);
    simulated!.reviveHost(ref);
    await untilFlows(last!, (all) => all.length === 4);
    t.match(
      flowsOf(last!).filter(({ mac }) => mac !== undefined),
      [{ allow: true }, { allow: true }],
    );
  });

  t.test("for the interface of a VM that starts", async (t) => {
    const [started] = (
      await api.all({ type: "VM", power_state: "Halted" })
    ).filter(({ VIFs }) => (VIFs as string[]).length > 0);
    const own = await api.all({ type: "VIF", $VM: started!.id });
    await api.request("vif.set", { id: own[0]!.id, network: id });
    await api.request("vm.start", { id: started!.id, force: true });
    const [running] = await api.all({ id: started!.id });
    const host = hosts.find(({ id }) => id === running!["$container"])!;
    const ref = String(own[0]!["_xapiRef"]);
    const isCovered = (all: Flows) =>
      all.some(({ mac, ports }) => mac === undefined && ports.includes(ref));
    t.notOk(isCovered(flowsOf(host)), "not yet");
    await untilFlows(host, isCovered);
    t.pass("within the interval");
  });

  t.test("and removed with what they were of", async (t) => {
    const before = flowsOf(hosts[0]!);
    t.ok(before.some(({ mac }) => mac !== undefined));
    await api.request("vif.set", { id: vif.id, mac: "02:00:00:00:00:17" });
    await untilFlows(hosts[0]!, (all) =>
      all.every(({ mac }) => mac === undefined || mac === "02:00:00:00:00:17"),
    );
    await untilFlows(hosts[0]!, (all) => all.length === 4);
    t.pass("the new MAC address has them");
    await api.request("network.deleteTrafficRule", { id, ...ssh });
    await untilFlows(hosts[0]!, (all) => all.length === 2);
  });
});

t.test("hosts without the plugin refuse, and nothing is stored", async (t) => {
  const { api, record } = await startControlled(t, {
    hosts: 1,
    vms: 4,
    system: "xenserver-8",
  });
  const networks = await api.all({ type: "network" });
  const network = networks.find(({ PIFs }) => (PIFs as string[]).length > 0);
  const { error } = await api.call("network.addTrafficRule", {
    id: network!.id,
    ...ssh,
    allow: true,
  });
  t.match(JSON.stringify(error), /has no sdncontroller.py \(XCP-ng only\)/);
  const { other_config } = record("network", network!.id);
  t.notMatch(JSON.stringify(other_config), "of-rules");
});

async function untilHalted(api: ApiSession, id: string): Promise<void> {
  while ((await api.all({ id }))[0]?.["power_state"] === "Running")
    await new Promise((resolve) => setTimeout(resolve, 50));
}
