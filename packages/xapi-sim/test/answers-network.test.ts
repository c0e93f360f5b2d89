import t from "tap";
import { createTestPool } from "./operations-pool.js";
import { checkAnswers, type AnswerCase } from "./support/answer-cases.js";
import { answers, find, none } from "./answer-words.js";

checkAnswers([
  answers("PIF scan bad", ["PIF.scan", none], ["HOST_OFFLINE", none]),
  answers(
    "PIF introduce bad",
    ["PIF.introduce", "HOST", "00:11:22:33:44:55", "eth77", true],
    [
      "COULD_NOT_FIND_NETWORK_INTERFACE_WITH_SPECIFIED_DEVICE_NAME_AND_MAC_ADDRESS",
      "eth77",
      "00:11:22:33:44:55",
    ],
  ),
  answers(
    "PIF reconfigure ipv6",
    ["PIF.reconfigure_ipv6", "PIF", "Static", "zz", "", ""],
    ["INVALID_CIDR_ADDRESS_SPECIFIED", "IPv6"],
  ),
  answers(
    "PIF set_property bad",
    ["PIF.set_property", "PIF", "bogus", "x"],
    ["INVALID_VALUE", "properties", "bogus = x"],
  ),
  answers("PIF set_property gro", ["PIF.set_property", "PIF", "gro", "on"]),
  answers(
    "PIF set_property gro bad",
    ["PIF.set_property", "PIF", "gro", "zz"],
    ["INVALID_VALUE", "properties", "gro = zz"],
  ),
  {
    row: "VLAN dup; create_VLAN bad; Bond one; tunnel create",
    prepare: (pool) => {
      const PIF = find(pool, "PIF", (pif) => pif["management"] === true);
      const { network, host } = pool.db.get("PIF", PIF);
      return {
        call: ["VLAN.create", PIF, 9999, network!],
        error: ["NETWORK_ALREADY_CONNECTED", host as string, PIF],
      };
    },
  },
  ...(["Bond.create", "tunnel.create"] as const).map((method): AnswerCase => ({
    row: `${method} on a network in use`,
    prepare: (pool) => {
      const PIF = find(pool, "PIF", (pif) => Number(pif["VLAN"]) > 0);
      const { network, host } = pool.db.get("PIF", PIF);
      return {
        call:
          method === "Bond.create"
            ? [method, network!, [PIF], "", "lacp", {}]
            : [method, PIF, network!, "gre"],
        error: ["NETWORK_ALREADY_CONNECTED", host as string, PIF],
      };
    },
  })),
  {
    row: "network add_purpose conflict",
    prepare: (pool) => {
      const network = pool.db.create("network", { purpose: ["nbd"] });
      return {
        call: ["network.add_purpose", network, "insecure_nbd"],
        error: ["NETWORK_INCOMPATIBLE_PURPOSES", "insecure_nbd", "nbd"],
      };
    },
  },
  answers(
    "network attach",
    ["network.attach", none, "HOST"],
    ["HANDLE_INVALID", "network", none],
  ),
]);

t.test("each network has a bridge of its own", async (t) => {
  const { call, db } = createTestPool();
  for (const name_label of ["a", "b", "c"])
    await call("network.create", { name_label, other_config: {} });
  const bridges = [...db.records("network")].map(([, { bridge }]) => bridge);
  t.equal(new Set(bridges).size, bridges.length);
});
