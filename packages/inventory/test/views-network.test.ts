import t from "tap";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { NULL, ref, uuid } from "./fixtures/sample-records.js";
import { viewOfChanged } from "./fixtures/view-of-changed.js";

const bonded = withFields(
  withFields(samplePool, "PIF", 1, { bond_master_of: [ref("Bond", 1)] }),
  "Bond",
  1,
  { master: ref("PIF", 1), slaves: [ref("PIF", 2)], mode: "balance-slb" },
);

t.test("a VIF's fields", async (t) => {
  t.match(
    viewOfChanged("VIF", 1, {
      device: "3",
      ipv4_allowed: ["192.0.2.1"],
      ipv6_allowed: ["fe80::1"],
      other_config: { "ethtool-tx": "false" },
    }),
    {
      attached: true,
      device: "3",
      MAC: "02:11:22:33:44:55",
      MTU: 1500,
      $network: uuid("network", 1),
      $VM: uuid("VM", 3),
      lockingMode: "network_default",
      allowedIpv4Addresses: ["192.0.2.1"],
      allowedIpv6Addresses: ["fe80::1"],
      txChecksumming: false,
      other_config: { "ethtool-tx": "false" },
    },
  );
  t.equal(viewOfChanged("VIF", 1).txChecksumming, true);
});

t.test(
  "a VIF's rate limit is in kB/s, and absent without a limit",
  async (t) => {
    const qos_algorithm_params = { kbps: "2000" };
    const limit = { qos_algorithm_type: "ratelimit", qos_algorithm_params };
    t.equal(viewOfChanged("VIF", 1, limit).rateLimit, 2000);
    t.notOk("rateLimit" in viewOfChanged("VIF", 1, { qos_algorithm_params }));
  },
);

t.test("a PIF's fields", async (t) => {
  t.same(viewOfChanged("PIF", 1), {
    attached: true,
    carrier: true,
    device: "eth0",
    deviceName: "a nic",
    disallowUnplug: false,
    dns: "",
    gateway: "",
    ip: "127.0.1.1",
    ipv6: [],
    ipv6Mode: "None",
    isBondMaster: false,
    isBondSlave: false,
    mac: "02:00:00:00:00:01",
    management: true,
    mode: "DHCP",
    mtu: 1500,
    netmask: "255.255.255.0",
    physical: true,
    primaryAddressType: "IPv4",
    speed: 1000,
    vlan: -1,
    $host: uuid("host", 1),
    $network: uuid("network", 1),
  });
  t.equal(viewOfChanged("PIF", 1, { VLAN: "12" }).vlan, 12);
  t.equal(viewOfChanged("PIF", 1, { VLAN: undefined }).vlan, -1);
  t.notOk("speed" in viewOfChanged("PIF", 1, { metrics: NULL }));
});

t.test("a bond and its members refer to each other", async (t) => {
  t.match(viewOfChanged("PIF", 1, {}, bonded), {
    isBondMaster: true,
    isBondSlave: false,
    bondSlaves: [uuid("PIF", 2)],
  });
  const part = viewOfChanged(
    "PIF",
    2,
    { bond_slave_of: ref("Bond", 1) },
    bonded,
  );
  t.match(part, { isBondSlave: true, bondMaster: uuid("PIF", 1) });
  t.notOk("bondSlaves" in part);
  t.same(viewOfChanged("Bond", 1, {}, bonded), {
    master: uuid("PIF", 1),
    mode: "balance-slb",
  });
});

t.test("a network's fields", async (t) => {
  t.match(
    viewOfChanged("network", 1, {
      other_config: { automatic: "true" },
      default_locking_mode: "disabled",
      purpose: ["nbd"],
      tags: ["x"],
    }),
    {
      name_label: "Pool-wide network associated with eth0",
      name_description: "",
      bridge: "xenbr0",
      MTU: 1500,
      PIFs: [uuid("PIF", 1), uuid("PIF", 2)],
      VIFs: [1, 2, 3, 4].map((number) => uuid("VIF", number)),
      tags: ["x"],
      automatic: true,
      defaultIsLocked: true,
      nbd: true,
      insecureNbd: false,
      isBonded: false,
      other_config: { automatic: "true" },
      current_operations: {},
    },
  );
  t.match(viewOfChanged("network", 1, { purpose: ["insecure_nbd"] }, bonded), {
    automatic: false,
    defaultIsLocked: false,
    nbd: false,
    insecureNbd: true,
    isBonded: true,
  });
});

t.test("traffic rules of networks and VIFs", async (t) => {
  const rule = {
    allow: true,
    protocol: "TCP",
    port: 22,
    ipRange: "192.0.2.0/24",
    direction: "to",
  };
  const key = "xo:sdn-controller:of-rules";
  const storing = (value: string) => ({ other_config: { [key]: value } });
  const stored = JSON.stringify([
    JSON.stringify(rule),
    "no JSON",
    17,
    JSON.stringify({ ...rule, ipRange: "" }),
    JSON.stringify({ ...rule, port: undefined, protocol: "IP", allow: "no" }),
  ]);
  for (const className of ["network", "VIF"]) {
    t.same(viewOfChanged(className, 1, storing(stored))["trafficRules"], [
      rule,
      {
        allow: false,
        protocol: "IP",
        ipRange: "192.0.2.0/24",
        direction: "to",
      },
    ]);
    for (const none of ["[]", "{", "null", '"x"'])
      t.notOk(
        "trafficRules" in viewOfChanged(className, 1, storing(none)),
        none,
      );
  }
});
