import { isIP } from "node:net";
import type { Database } from "../../database.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { invalidValue } from "../effects/failures.js";
import {
  flag,
  map,
  refIn,
  refs,
  text,
  textParam,
} from "../../records/fields.js";
import { isLive } from "../capacity/host-choice.js";
import { assertFreeFor } from "./network.js";
import { isCidr } from "./vif.js";

/** Interfaces of hosts, and tunnels between them. Preconditions of xapi_pif.ml and xapi_tunnel.ml, from memory. */
export const pifOperations: OperationTable = {
  "PIF.scan": ({ db }, params) => {
    const host = textParam(params, 0);
    if (db.find("host", host) === undefined || !isLive(db, host))
      throw new XapiFailure("HOST_OFFLINE", [host]);
  },
  "PIF.introduce": ({ db }, params) => {
    const [host, MAC, device] = params as readonly string[];
    db.get("host", host!);
    // All interfaces of a host are known to the pool, so there is no other to introduce.
    throw new XapiFailure(
      "COULD_NOT_FIND_NETWORK_INTERFACE_WITH_SPECIFIED_DEVICE_NAME_AND_MAC_ADDRESS",
      [device!, MAC!],
    );
  },
  "PIF.set_property": ({ db }, params) => {
    const [ref, name, value] = params as readonly string[];
    const properties = map(db.get("PIF", ref!), "properties");
    if (name !== "gro" || !["on", "off"].includes(value!))
      throw invalidValue("properties", `${name!} = ${value!}`);
    db.update("PIF", ref!, { properties: { ...properties, [name]: value! } });
  },
  "PIF.forget": ({ db }, params) => {
    const ref = textParam(params, 0);
    const pif = db.get("PIF", ref);
    if (!flag(pif, "physical"))
      throw new XapiFailure("PIF_IS_NOT_PHYSICAL", [ref]);
    if (flag(pif, "management"))
      throw new XapiFailure("PIF_IS_MANAGEMENT_INTERFACE", [ref]);
    if (refs(pif, "VLAN_slave_of").length > 0)
      throw new XapiFailure("PIF_VLAN_STILL_EXISTS", [ref]);
    if (refs(pif, "tunnel_transport_PIF_of").length > 0)
      throw new XapiFailure("PIF_TUNNEL_STILL_EXISTS", [ref]);
    if (refIn(pif, "bond_slave_of") !== undefined)
      throw new XapiFailure("PIF_ALREADY_BONDED", [ref]);
    db.destroy("PIF", ref);
  },
  "PIF.reconfigure_ip": (context, params) => {
    const [ref, mode, IP, netmask, gateway, DNS] = params as readonly string[];
    assertMayChange(context, ref!, mode!);
    if (mode === "Static") {
      assertAddress("IP", IP!, 4);
      assertAddress("netmask", netmask!, 4);
      if (gateway !== "") assertAddress("gateway", gateway!, 4);
    }
    for (const server of DNS!.split(",").filter((word) => word !== ""))
      assertAddress("DNS", server);
    context.db.update("PIF", ref!, {
      ip_configuration_mode: mode!,
      ...(mode === "None"
        ? { IP: "", netmask: "", gateway: "", DNS: "" }
        : { IP: IP!, netmask: netmask!, gateway: gateway!, DNS: DNS! }),
    });
  },
  "PIF.reconfigure_ipv6": (context, params) => {
    const [ref, mode, IPv6, gateway, DNS] = params as readonly string[];
    assertMayChange(context, ref!, mode!);
    if (mode === "Static" && !isCidr(IPv6!, 6))
      throw new XapiFailure("INVALID_CIDR_ADDRESS_SPECIFIED", ["IPv6"]);
    context.db.update("PIF", ref!, {
      ipv6_configuration_mode: mode!,
      IPv6: IPv6 === "" ? [] : [IPv6!],
      ipv6_gateway: gateway!,
      DNS: DNS!,
    });
  },
  "tunnel.create": ({ db }, params) => {
    const [transport, network] = [textParam(params, 0), textParam(params, 1)];
    const pif = db.get("PIF", transport);
    assertFreeFor(db, network, text(pif, "host"));
    assertCarriesTunnel(pif, transport);
    const access = db.create("PIF", {
      device: tunnelName(db, text(pif, "host")),
      host: text(pif, "host"),
      MAC: text(pif, "MAC"),
      MTU: pif["MTU"]!,
      metrics: text(pif, "metrics"),
      network,
      VLAN: -1,
      currently_attached: true,
    });
    return db.create("tunnel", {
      access_PIF: access,
      transport_PIF: transport,
      protocol: params[2]!,
      status: { active: "true" },
    });
  },
  "tunnel.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const access = text(db.get("tunnel", ref), "access_PIF");
    db.destroy("tunnel", ref);
    if (db.find("PIF", access) !== undefined) db.destroy("PIF", access);
  },
};

function assertMayChange(
  { db, pool }: CallContext,
  ref: string,
  mode: string,
): void {
  const pif = db.get("PIF", ref);
  if (!flag(pif, "management")) return;
  if (mode === "None")
    throw new XapiFailure("PIF_IS_MANAGEMENT_INTERFACE", [ref]);
  if (flag(db.get("pool", pool.poolRef), "ha_enabled"))
    throw new XapiFailure("HA_IS_ENABLED");
}

/** @param family 4 or 6; either where none is given */
function assertAddress(name: string, value: string, family?: 4 | 6): void {
  const found = isIP(value);
  if (found === 0 || (family !== undefined && found !== family))
    throw new XapiFailure("INVALID_IP_ADDRESS_SPECIFIED", [name]);
}

function assertCarriesTunnel(pif: XapiRecord, ref: string): void {
  if (refIn(pif, "bond_slave_of") !== undefined)
    throw new XapiFailure("CANNOT_ADD_TUNNEL_TO_BOND_SLAVE", [ref]);
  if (refs(pif, "tunnel_access_PIF_of").length > 0)
    throw new XapiFailure("IS_TUNNEL_ACCESS_PIF", [ref]);
  if (text(pif, "ip_configuration_mode") === "None")
    throw new XapiFailure("TRANSPORT_PIF_NOT_CONFIGURED", [ref]);
}

function tunnelName(db: Database, host: string): string {
  const taken = new Set(
    refs(db.get("host", host), "PIFs").map((pif) =>
      text(db.get("PIF", pif), "device"),
    ),
  );
  let number = 0;
  while (taken.has(`tunnel${number}`)) number++;
  return `tunnel${number}`;
}
