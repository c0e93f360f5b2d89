import type { CallContext } from "../../operation.js";
import type { Flow } from "../../pool-state.js";
import { flag, refIn, refs, text, textIn } from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap } from "../../xapi-value.js";

const PROTOCOLS = ["tcp", "udp", "icmp", "ip", "arp"];
const ADDRESS = /^(\d{1,3}\.){3}\d{1,3}(\/\d{1,2})?$/;
/** Of ovs-ofctl, without one. */
const DEFAULT_PRIORITY = 32_768;

/**
 * `sdncontroller.py` of XCP-ng: changes the OpenFlow table of a bridge of a host
 * [xcp-ng-xapi-plugins: README, "sdncontroller"]. Error codes 1 to 3 are those of the plugin.
 */
export function callFlowPlugin(
  context: CallContext,
  { host, fn, args }: { host: string; fn: string; args: XapiMap },
): string {
  if (fn !== "add-rule" && fn !== "del-rule" && fn !== "dump-flows")
    throw new XapiFailure("UNKNOWN_XENAPI_PLUGIN_FUNCTION", [fn]);
  const bridge = textIn(args, "bridge");
  if (!/^\w+\d+$/.test(bridge))
    throw failure("1", `'${bridge}' is not a valid bridge name`);
  const ports = portsOf(context, host, bridge);
  if (ports === undefined) throw failure("3", `no bridge named ${bridge}`);
  const key = `${host}/${bridge}`;
  const table = context.state.flows.get(key) ?? new Map<string, Flow>();
  context.state.flows.set(key, table);
  if (fn === "dump-flows")
    return JSON.stringify({
      returncode: 0,
      stdout: [...table.keys()].join("\n"),
    });
  for (const flow of toFlows(args, ports)) {
    const id = idOf(flow);
    if (fn === "add-rule") table.set(id, flow);
    else
      for (const [other, one] of table)
        if (isWithin(one, flow)) table.delete(other);
  }
  return "true";
}

function toFlows(args: XapiMap, ports: readonly string[]): Flow[] {
  const [protocol, ipRange] = [
    textIn(args, "protocol").toLowerCase(),
    textIn(args, "ipRange"),
  ];
  const directions = textIn(args, "direction").toLowerCase().split("/");
  const [mac, port] = [optional(args, "mac"), optional(args, "port")];
  if (!PROTOCOLS.includes(protocol))
    throw failure("1", `'${protocol}' is not a supported protocol`);
  if (!ADDRESS.test(ipRange))
    throw failure("1", `'${ipRange}' is not a valid IP range`);
  if ((protocol === "tcp" || protocol === "udp") && port === undefined)
    throw failure("2", "No port provided, tcp and udp requires one");
  const known = (["from", "to"] as const).filter((one) =>
    directions.includes(one),
  );
  if (known.length === 0) throw failure("1", "not a valid direction");
  return known.map((direction) => ({
    mac: mac?.toLowerCase(),
    ports: mac === undefined ? ports : [],
    protocol,
    direction,
    ipRange,
    port,
    priority: Number(optional(args, "priority") ?? DEFAULT_PRIORITY),
    allow: textIn(args, "allow").toLowerCase() === "true",
  }));
}

/** The same traffic with the same priority: it is replaced. */
function idOf({ mac, protocol, direction, ipRange, port, priority }: Flow) {
  return [priority, mac, protocol, direction, ipRange, port].join(" ");
}

/** `ovs-ofctl del-flows` deletes what matches the same traffic or a part of it. */
function isWithin(one: Flow, of: Flow): boolean {
  return (
    one.mac === of.mac &&
    one.direction === of.direction &&
    (one.protocol === of.protocol || of.protocol === "ip") &&
    (of.port === undefined || one.port === of.port) &&
    isRangeWithin(one.ipRange, of.ipRange)
  );
}

function isRangeWithin(one: string, of: string): boolean {
  const [a, b] = [rangeOf(one), rangeOf(of)];
  if (a.prefix < b.prefix) return false;
  const shift = 2 ** (32 - b.prefix);
  return Math.floor(a.address / shift) === Math.floor(b.address / shift);
}

function rangeOf(range: string): { address: number; prefix: number } {
  const [address = "", prefix = "32"] = range.split("/");
  return {
    address: address
      .split(".")
      .reduce((sum, byte) => sum * 256 + Number(byte), 0),
    prefix: Number(prefix),
  };
}

/** References of the VIFs on a bridge of a host; undefined: the host has no such bridge. */
function portsOf(
  { db }: CallContext,
  host: string,
  bridge: string,
): string[] | undefined {
  for (const [, record] of db.records("network")) {
    if (text(record, "bridge") !== bridge) continue;
    const vifs = refs(record, "VIFs").filter((ref) => {
      const vif = db.get("VIF", ref);
      const vm = db.get("VM", text(vif, "VM"));
      return (
        flag(vif, "currently_attached") && refIn(vm, "resident_on") === host
      );
    });
    const hasPif = refs(record, "PIFs").some((ref) => {
      const pif = db.get("PIF", ref);
      return refIn(pif, "host") === host && flag(pif, "currently_attached");
    });
    return hasPif || vifs.length > 0 ? vifs : undefined;
  }
  return undefined;
}

function optional(args: XapiMap, name: string): string | undefined {
  const value = textIn(args, name);
  return value === "" ? undefined : value;
}

/** `raise_plugin_error` of the plugins of XCP-ng. */
function failure(code: string, message: string): XapiFailure {
  return new XapiFailure(code, [message, "", ""]);
}
