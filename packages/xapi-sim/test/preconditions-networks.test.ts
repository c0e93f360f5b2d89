import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import {
  checkCases,
  find,
  type Texts,
  coordinator,
} from "./precondition-cases.js";

function slave(pool: TestPool): string {
  return find(pool, "PIF", (pif) => pif["bond_slave_of"] !== "OpaqueRef:NULL");
}

function management(pool: TestPool): string {
  return find(pool, "PIF", (pif) => pif["management"] === true);
}

checkCases([
  [
    "an interface may only have addresses",
    (pool) => ({
      call: [
        "VIF.set_ipv4_allowed",
        find(pool, "VIF", () => true),
        ["10.0.0.300"],
      ],
      error: ["INVALID_IP_ADDRESS_SPECIFIED", "ipv4_allowed"],
    }),
  ],
  [
    "a network with plugged interfaces stays",
    (pool) => {
      const [vif] = pool.vm(pool.guest("Running"))["VIFs"] as Texts;
      const network = pool.db.get("VIF", vif!)["network"] as string;
      return {
        call: ["network.destroy", network],
        error: ["NETWORK_CONTAINS_VIF"],
      };
    },
  ],
  [
    "a network has one interface of a host",
    (pool) => {
      const pif = management(pool);
      const network = pool.db.get("PIF", slave(pool))["network"] as string;
      const host = pool.db.get("PIF", pif)["host"] as string;
      return {
        call: ["VLAN.create", pif, 9, network],
        error: ["NETWORK_ALREADY_CONNECTED", host],
      };
    },
  ],
  [
    "a bond is of two at least",
    (pool) => ({
      call: [
        "Bond.create",
        pool.db.create("network", {}),
        [slave(pool)],
        "",
        "lacp",
        {},
      ],
      error: ["PIF_BOND_NEEDS_MORE_MEMBERS"],
    }),
  ],
  [
    "a member of a bond is in no other",
    (pool) => {
      const host = pool.db.get("PIF", slave(pool))["host"];
      const pifs = [...pool.db.records("PIF")]
        .filter(([, pif]) => pif["physical"] === true && pif["host"] === host)
        .map(([ref]) => ref);
      return {
        call: [
          "Bond.create",
          pool.db.create("network", {}),
          pifs,
          "",
          "lacp",
          {},
        ],
        error: ["PIF_ALREADY_BONDED", pifs[0]!],
      };
    },
  ],
  [
    "the management interface keeps an address",
    (pool) => ({
      call: ["PIF.reconfigure_ip", management(pool), "None", "", "", "", ""],
      error: ["PIF_IS_MANAGEMENT_INTERFACE", management(pool)],
    }),
  ],
  [
    "an address is one",
    (pool) => ({
      call: [
        "PIF.reconfigure_ip",
        management(pool),
        "Static",
        "10.0.0",
        "255.0.0.0",
        "",
        "",
      ],
      error: ["INVALID_IP_ADDRESS_SPECIFIED", "IP"],
    }),
  ],
  [
    "a tunnel needs an interface with an address",
    (pool) => {
      const pif = find(pool, "PIF", (record) => Number(record["VLAN"]) > 0);
      return {
        call: ["tunnel.create", pif, pool.db.create("network", {}), "gre"],
        error: ["TRANSPORT_PIF_NOT_CONFIGURED", pif],
      };
    },
  ],
]);

t.test("free interfaces are bonded and released again", async (t) => {
  const pool = createTestPool({ hosts: 10, vms: 5 });
  const { call, db } = pool;
  const host = coordinator(pool);
  const free = [...db.records("PIF")]
    .filter(
      ([, pif]) =>
        pif["host"] === host &&
        pif["physical"] === true &&
        pif["bond_slave_of"] === "OpaqueRef:NULL",
    )
    .map(([ref]) => ref);
  t.equal(free.length, 2);
  const network = (await call("network.create", {
    name_label: "n",
    other_config: {},
  })) as string;
  const bond = (await call(
    "Bond.create",
    network,
    free,
    "",
    "balance-slb",
    {},
  )) as string;
  t.match(db.get("PIF", db.get("Bond", bond)["master"] as string), {
    device: "bond1",
    network,
  });
  for (const pif of free) t.equal(db.get("PIF", pif)["bond_slave_of"], bond);
  await call("Bond.destroy", bond);
  for (const pif of free)
    t.equal(db.get("PIF", pif)["bond_slave_of"], "OpaqueRef:NULL");
});

t.test("a tunnel is an interface over another", async (t) => {
  const pool = createTestPool();
  const { call, db } = pool;
  const network = (await call("network.create", {
    name_label: "n",
    other_config: {},
  })) as string;
  const tunnel = (await call(
    "tunnel.create",
    management(pool),
    network,
    "vxlan",
  )) as string;
  const { access_PIF } = db.get("tunnel", tunnel);
  t.match(db.get("PIF", access_PIF as string), { network, device: "tunnel0" });
  await call("tunnel.destroy", tunnel);
  t.equal(db.find("PIF", access_PIF as string), undefined);
});
