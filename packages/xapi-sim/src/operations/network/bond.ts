import { NULL_REF } from "@xo-server/model";
import type { Database } from "../../database.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { durations } from "../effects/durations.js";
import { flag, refIn, refs, text, textParam } from "../../records/fields.js";
import { assertFreeFor } from "./network.js";

export const bondOperations: OperationTable = {
  "Bond.create": async (context, params) => {
    const [network, members, mac, mode, properties] = params as BondParams;
    const requested = { network, members, mac, mode, properties };
    assertCanBond(context, requested);
    await context.delay(durations.plug);
    return makeBond(context.db, requested);
  },
  "Bond.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const bond = db.get("Bond", ref);
    const master = text(bond, "master");
    if (flag(db.get("PIF", master), "management"))
      db.update("PIF", text(bond, "primary_slave"), {
        ...addressOf(db.get("PIF", master)),
        management: true,
      });
    for (const slave of refs(bond, "slaves"))
      db.update("PIF", slave, { bond_slave_of: NULL_REF });
    db.destroy("Bond", ref);
    db.destroy("PIF", master);
  },
};

type BondParams = readonly [
  network: string,
  members: readonly string[],
  mac: string,
  mode: string,
  properties: XapiRecord,
];

interface NewBond {
  readonly network: string;
  readonly members: readonly string[];
  /** Empty: that of the first member. */
  readonly mac: string;
  readonly mode: string;
  readonly properties: XapiRecord;
}

/** Members give their addresses and their management role to the bond's own PIF. */
export function makeBond(
  db: Database,
  { network, members, mac, mode, properties }: NewBond,
): string {
  const primary_slave =
    members.find((ref) => flag(db.get("PIF", ref), "management")) ??
    members[0]!;
  const first = db.get("PIF", primary_slave);
  const master = db.create("PIF", {
    ...addressOf(first),
    device: freeName(db, text(first, "host")),
    network,
    host: first["host"]!,
    MAC: mac === "" ? first["MAC"]! : mac,
    MTU: first["MTU"]!,
    VLAN: -1,
    metrics: first["metrics"]!,
    currently_attached: true,
    management: first["management"]!,
  });
  const links_up = members.length;
  const bond = db.create("Bond", {
    master,
    primary_slave,
    mode,
    properties,
    links_up,
  });
  for (const member of members)
    db.update("PIF", member, {
      bond_slave_of: bond,
      management: false,
      ip_configuration_mode: "None",
      IP: "",
    });
  return bond;
}

/** `bond0`, or the next number that the host has none of. */
function freeName(db: Database, host: string): string {
  const taken = new Set(
    refs(db.get("host", host), "PIFs").map((pif) =>
      text(db.get("PIF", pif), "device"),
    ),
  );
  let number = 0;
  while (taken.has(`bond${number}`)) number++;
  return `bond${number}`;
}

/** [xapi_bond.ml, from memory] */
function assertCanBond({ db, pool }: CallContext, requested: NewBond): void {
  const { network, members } = requested;
  db.get("network", network);
  for (const member of members)
    assertFreeFor(db, network, text(db.get("PIF", member), "host"));
  if (members.length < 2) throw new XapiFailure("PIF_BOND_NEEDS_MORE_MEMBERS");
  const hosts = new Set<string>();
  for (const member of members) {
    const pif = db.get("PIF", member);
    hosts.add(text(pif, "host"));
    if (!flag(pif, "physical"))
      throw new XapiFailure("PIF_IS_NOT_PHYSICAL", [member]);
    const isArmed = flag(db.get("pool", pool.poolRef), "ha_enabled");
    if (isArmed && flag(pif, "management"))
      throw new XapiFailure("HA_CANNOT_CHANGE_BOND_STATUS_OF_MGMT_IFACE");
    if (refIn(pif, "bond_slave_of") !== undefined)
      throw new XapiFailure("PIF_ALREADY_BONDED", [member]);
  }
  if (hosts.size > 1) throw new XapiFailure("PIF_CANNOT_BOND_CROSS_HOST");
}

function addressOf(pif: XapiRecord): XapiRecord {
  const names = ["ip_configuration_mode", "IP", "netmask", "gateway", "DNS"];
  return Object.fromEntries(names.map((name) => [name, pif[name]!]));
}
