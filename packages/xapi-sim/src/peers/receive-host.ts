import { NULL_REF } from "@xo-server/model";
import type { Database } from "../database.js";
import { makeBond } from "../operations/network/bond.js";
import { flag, map, refs, text } from "../records/fields.js";
import { createVlan } from "../operations/network/network.js";
import { refreshHost, refreshVm } from "../operations/effects/refresh.js";
import { mapRefs } from "../transfer/ova.js";
import type { XapiRecord } from "../xapi-value.js";
import type { HostPayload } from "./host-payload.js";

/** Makes the host a member: its objects, its PIFs on the pool's networks, its ways to the shared SRs. @returns its reference here */
export function receiveHost(
  db: Database,
  { host, objects, networks }: HostPayload,
  address: string,
): string {
  const here = new Map<string, string>();
  for (const { ref, record } of networks)
    here.set(ref, networkLike(db, record));
  for (const { ref } of objects) here.set(ref, db.newRef());
  const own = here.get(host)!;
  for (const { className, ref, record } of objects) {
    const mapped = mapRefs(
      className,
      record,
      (other) => here.get(other) ?? NULL_REF,
    );
    const adjusted = ref === host ? { ...mapped, address } : mapped;
    db.create(className, adjusted, here.get(ref));
  }
  plugSharedSrs(db, own);
  copyNetworking(db, own);
  for (const { className, ref } of objects)
    if (className === "VM") refreshVm(db, here.get(ref)!);
  refreshHost(db, own);
  return own;
}

/** The network of the same bridge; where there is none, one is made. */
function networkLike(db: Database, network: XapiRecord): string {
  for (const [ref, record] of db.records("network"))
    if (text(record, "bridge") === text(network, "bridge")) return ref;
  const { bridge, name_label, name_description, MTU, other_config } = network;
  return db.create("network", {
    bridge: bridge!,
    name_label: name_label!,
    name_description: name_description!,
    MTU: MTU!,
    other_config: other_config!,
  });
}

/** Bonds and VLANs of the coordinator, on the interfaces of the same names. */
function copyNetworking(db: Database, host: string): void {
  const [, pool] = [...db.records("pool")][0]!;
  const model = pifsOf(db, text(pool, "master"));
  for (const pif of model) {
    const [bond] = refs(pif, "bond_master_of");
    if (bond !== undefined) copyBond(db, host, bond);
  }
  for (const pif of model)
    for (const ref of refs(pif, "VLAN_slave_of")) {
      const { tag, untagged_PIF } = db.get("VLAN", ref);
      const tagged = pifNamed(db, host, text(pif, "device"));
      const network = text(db.get("PIF", untagged_PIF as string), "network");
      if (tagged !== undefined)
        createVlan({ db }, { tagged, tag: Number(tag), network });
    }
}

function copyBond(db: Database, host: string, ref: string): void {
  const bond = db.get("Bond", ref);
  const members = refs(bond, "slaves").map((slave) =>
    pifNamed(db, host, text(db.get("PIF", slave), "device")),
  );
  if (members.includes(undefined)) return;
  makeBond(db, {
    network: text(db.get("PIF", text(bond, "master")), "network"),
    members: members as readonly string[],
    mac: "",
    mode: text(bond, "mode"),
    properties: map(bond, "properties"),
  });
}

function pifsOf(db: Database, host: string): readonly XapiRecord[] {
  return refs(db.get("host", host), "PIFs").map((pif) => db.get("PIF", pif));
}

/** The host's interface of this name that carries others. */
function pifNamed(
  db: Database,
  host: string,
  device: string,
): string | undefined {
  return refs(db.get("host", host), "PIFs").find((ref) => {
    const pif = db.get("PIF", ref);
    return text(pif, "device") === device && Number(pif["VLAN"]) === -1;
  });
}

/** A new member reaches what all others reach, in the same way. */
function plugSharedSrs(db: Database, host: string): void {
  const shared = [...db.records("SR")].filter(([, sr]) => flag(sr, "shared"));
  for (const [ref, sr] of shared) {
    const [other] = sr["PBDs"] as readonly string[];
    if (other === undefined) continue;
    const { device_config, currently_attached } = db.get("PBD", other);
    db.create("PBD", {
      host,
      SR: ref,
      device_config: device_config!,
      currently_attached: currently_attached!,
    });
  }
}
