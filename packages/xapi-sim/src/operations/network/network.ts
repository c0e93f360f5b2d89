import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { durations } from "../effects/durations.js";
import {
  flag,
  int,
  intParam,
  refIn,
  refs,
  text,
  textParam,
} from "../../records/fields.js";

export const networkOperations: OperationTable = {
  "network.create": ({ db }, params) => {
    const record = params[0] as XapiRecord;
    const requested = record["bridge"];
    const bridge =
      typeof requested === "string" && requested !== ""
        ? requested
        : freeBridge(db);
    return db.create("network", { ...record, bridge });
  },
  "network.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const network = db.get("network", ref);
    const vifs = refs(network, "VIFs").filter((vif) =>
      flag(db.get("VIF", vif), "currently_attached"),
    );
    if (vifs.length > 0) throw new XapiFailure("NETWORK_CONTAINS_VIF", vifs);
    const pifs = refs(network, "PIFs");
    if (pifs.length > 0) throw new XapiFailure("NETWORK_CONTAINS_PIF", pifs);
    if (text(network, "bridge") === "xenapi")
      throw new XapiFailure("CANNOT_DESTROY_SYSTEM_NETWORK", [ref]);
    for (const vif of refs(network, "VIFs")) db.destroy("VIF", vif);
    db.destroy("network", ref);
  },
  "network.add_purpose": (context, params) => {
    addPurpose(context, textParam(params, 0), textParam(params, 1));
  },
  "network.attach": ({ db }, params) => {
    db.get("network", textParam(params, 0));
    db.get("host", textParam(params, 1));
  },
  "VLAN.create": (context, params) =>
    createVlan(context, {
      tagged: textParam(params, 0),
      tag: intParam(params, 1),
      network: textParam(params, 2),
    }).vlan,
  "VLAN.destroy": ({ db }, params) => {
    destroyVlan({ db }, textParam(params, 0));
  },
  "pool.create_VLAN_from_PIF": (context, params) => {
    const { db } = context;
    const [network, tag] = [textParam(params, 1), intParam(params, 2)];
    const { network: source } = db.get("PIF", textParam(params, 0));
    // The same interface of every host: the PIFs of the same network.
    return refs(db.get("network", source as string), "PIFs").map(
      (tagged) => createVlan(context, { tagged, tag, network }).pif,
    );
  },
  "pool.create_VLAN": (context, params) => {
    const { db } = context;
    return [...db.records("PIF")]
      .filter(
        ([, pif]) =>
          text(pif, "device") === textParam(params, 0) &&
          int(pif, "VLAN") === -1,
      )
      .map(
        ([tagged]) =>
          createVlan(context, {
            tagged,
            tag: intParam(params, 2),
            network: textParam(params, 1),
          }).pif,
      );
  },
  "PIF.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const vlan = refIn(db.get("PIF", ref), "VLAN_master_of");
    if (vlan === undefined) throw new XapiFailure("PIF_IS_PHYSICAL", [ref]);
    destroyVlan({ db }, vlan);
  },
  "PIF.plug": (context, params) => plugPif(context, textParam(params, 0), true),
  "PIF.unplug": (context, params) =>
    plugPif(context, textParam(params, 0), false),
};

/** @throws XapiFailure NETWORK_ALREADY_CONNECTED: the host has an interface on the network */
export function assertFreeFor(
  db: CallContext["db"],
  network: string,
  host: string,
): void {
  for (const pif of refs(db.get("network", network), "PIFs"))
    if (text(db.get("PIF", pif), "host") === host)
      throw new XapiFailure("NETWORK_ALREADY_CONNECTED", [host, pif]);
}

/** `xapi0`, or the first number that no network of the pool has. */
function freeBridge(db: CallContext["db"]): string {
  const taken = new Set(
    [...db.records("network")].map(([, network]) => text(network, "bridge")),
  );
  let number = 0;
  while (taken.has(`xapi${number}`)) number++;
  return `xapi${number}`;
}

/** @throws XapiFailure NETWORK_INCOMPATIBLE_PURPOSES: NBD is either with TLS or without */
function addPurpose(
  { db }: Pick<CallContext, "db">,
  ref: string,
  purpose: string,
): void {
  const purposes = refs(db.get("network", ref), "purpose");
  const other = purpose === "nbd" ? "insecure_nbd" : "nbd";
  if (purposes.includes(other))
    throw new XapiFailure("NETWORK_INCOMPATIBLE_PURPOSES", [purpose, other]);
  if (!purposes.includes(purpose))
    db.update("network", ref, { purpose: [...purposes, purpose] });
}

interface NewVlan {
  /** The PIF that carries it. */
  readonly tagged: string;
  readonly tag: number;
  readonly network: string;
}

/**
 * A VLAN with its untagged PIF.
 * @returns references of both
 * @throws XapiFailure the network is in use on the host
 */
export function createVlan(
  { db }: Pick<CallContext, "db">,
  { tagged, tag, network }: NewVlan,
): { vlan: string; pif: string } {
  const trunk = db.get("PIF", tagged);
  assertFreeFor(db, network, text(trunk, "host"));
  if (tag < 0 || tag > 4094)
    throw new XapiFailure("VLAN_TAG_INVALID", [String(tag)]);
  if (int(trunk, "VLAN") >= 0) throw new XapiFailure("PIF_IS_VLAN", [tagged]);
  const exists = refs(trunk, "VLAN_slave_of").some(
    (vlan) => int(db.get("VLAN", vlan), "tag") === tag,
  );
  if (exists) throw new XapiFailure("PIF_VLAN_EXISTS", [tagged]);
  const pif = db.create("PIF", {
    device: text(trunk, "device"),
    host: text(trunk, "host"),
    MAC: text(trunk, "MAC"),
    MTU: int(trunk, "MTU"),
    metrics: text(trunk, "metrics"),
    network,
    VLAN: tag,
    currently_attached: flag(trunk, "currently_attached"),
  });
  const vlan = db.create("VLAN", {
    tagged_PIF: tagged,
    untagged_PIF: pif,
    tag,
  });
  db.update("PIF", pif, { VLAN_master_of: vlan });
  return { vlan, pif };
}

function destroyVlan({ db }: Pick<CallContext, "db">, ref: string): void {
  const pif = text(db.get("VLAN", ref), "untagged_PIF");
  db.destroy("VLAN", ref);
  if (db.find("PIF", pif) !== undefined) db.destroy("PIF", pif);
}

async function plugPif(
  context: CallContext,
  ref: string,
  currently_attached: boolean,
): Promise<void> {
  const pif = context.db.get("PIF", ref);
  if (!currently_attached && flag(pif, "management"))
    throw new XapiFailure("PIF_IS_MANAGEMENT_INTERFACE", [ref]);
  if (!currently_attached && flag(pif, "disallow_unplug"))
    throw new XapiFailure("PIF_DOES_NOT_ALLOW_UNPLUG", [ref]);
  await context.delay(durations.plug);
  context.db.update("PIF", ref, { currently_attached });
}
