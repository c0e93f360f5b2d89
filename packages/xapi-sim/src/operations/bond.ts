import { NULL_REF } from "@xo-server/model";
import type { CallContext, OperationTable } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { durations } from "./durations.js";
import { flag, refIn, refs, text, textParam } from "./fields.js";
import { operationNotAllowed } from "./failures.js";

export const bondOperations: OperationTable = {
  "Bond.create": (context, params) => createBond(context, params as BondParams),
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

/** Members give their addresses and their management role to the bond's own PIF. */
async function createBond(
  context: CallContext,
  [network, members, mac, mode, properties]: BondParams,
): Promise<string> {
  const { db } = context;
  assertCanBond(context, members);
  await context.delay(durations.plug);
  const primary_slave =
    members.find((ref) => flag(db.get("PIF", ref), "management")) ??
    members[0]!;
  const first = db.get("PIF", primary_slave);
  const master = db.create("PIF", {
    ...addressOf(first),
    device: `bond${members.length}`,
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

function assertCanBond({ db }: CallContext, members: readonly string[]): void {
  if (members.length < 2) throw new XapiFailure("PIF_BOND_NEEDS_MORE_MEMBERS");
  const hosts = new Set<string>();
  for (const member of members) {
    const pif = db.get("PIF", member);
    hosts.add(text(pif, "host"));
    if (refIn(pif, "bond_slave_of") !== undefined)
      throw new XapiFailure("PIF_ALREADY_BONDED", [member]);
  }
  if (hosts.size > 1)
    throw operationNotAllowed("The PIFs are on different hosts");
}

function addressOf(pif: XapiRecord): XapiRecord {
  const names = ["ip_configuration_mode", "IP", "netmask", "gateway", "DNS"];
  return Object.fromEntries(names.map((name) => [name, pif[name]!]));
}
