import { NULL_REF } from "@xo-server/model";
import { toDatetime } from "../../clock.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure, internalError } from "../../xapi-failure.js";
import { progressDuring, whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { invalidValue } from "../effects/failures.js";
import {
  flag,
  int,
  map,
  mapParam,
  refs,
  text,
  textParam,
} from "../../records/fields.js";
import { assertPlanHolds } from "../ha/failover-plan.js";
import { guestsOn, isLive } from "../capacity/host-choice.js";
import {
  bootHost,
  takeHostOffline,
  restartAgent,
  setLive,
} from "./host-availability.js";
import { createMessage } from "../effects/messages.js";
import { refreshHost } from "../effects/refresh.js";
import { callFlowPlugin } from "../network/flow-plugin.js";
import { callUpdater } from "./updater-plugin.js";
import { freeMemory } from "../capacity/host-memory.js";

/** Extensions that an XCP-ng host has besides XAPI's messages. */
const extensions = new Set([
  "pool_update.apply",
  "pool_update.precheck",
  "host.apply_updates",
]);

export const hostOperationTable: OperationTable = {
  "host.disable": (context, params) => {
    disable(context, textParam(params, 0));
  },
  "host.enable": ({ db }, params) => {
    const host = textParam(params, 0);
    if (!isLive(db, host)) throw new XapiFailure("HOST_NOT_LIVE");
    db.update("host", host, { enabled: true });
    refreshHost(db, host);
  },
  "host.reboot": (context, params) =>
    restart(context, textParam(params, 0), { comesBack: true }),
  "host.shutdown": (context, params) =>
    restart(context, textParam(params, 0), { comesBack: false }),
  "host.power_on": async (context, params) => {
    const host = textParam(params, 0);
    if (isLive(context.db, host)) throw new XapiFailure("HOST_IS_LIVE", [host]);
    await progressDuring(context, durations.hostReboot);
    if (bootHost(context, host)) context.pool.setReachable(host, true);
  },
  "host.destroy": ({ db }, params) => {
    const host = textParam(params, 0);
    const record = db.get("host", host);
    if (isLive(db, host)) throw new XapiFailure("HOST_IS_LIVE", [host]);
    if (guestsOn({ db }, host).length > 0)
      throw new XapiFailure("HOST_HAS_RESIDENT_VMS", [host]);
    removeHost({ db }, host, text(record, "control_domain"));
  },
  "host.restart_agent": async (context, params) => {
    const host = textParam(params, 0);
    context.db.get("host", host);
    await context.delay(durations.hostAgent);
    context.pool.later(durations.fuse, () => restartAgent(context, host));
  },
  "host.get_servertime": ({ db, clock }, params) => {
    db.get("host", textParam(params, 0));
    return toDatetime(clock.now());
  },
  // Local times have no zone.
  "host.get_server_localtime": ({ db, clock }, params) => {
    db.get("host", textParam(params, 0));
    return toDatetime(clock.now()).replace("Z", "");
  },
  "host.compute_free_memory": ({ db }, params) =>
    freeMemory(db, textParam(params, 0)),
  "host.compute_memory_overhead": ({ db }, params) =>
    int(db.get("host", textParam(params, 0)), "memory_overhead"),
  "host.list_methods": () => {
    throw new XapiFailure("NOT_IMPLEMENTED", ["list_method"]);
  },
  "host.has_extension": ({ db }, params) => {
    db.get("host", textParam(params, 0));
    return extensions.has(textParam(params, 1));
  },
  "host.call_extension": ({ db }, params) => {
    db.get("host", textParam(params, 0));
    assertJson(textParam(params, 1));
    throw new XapiFailure("MESSAGE_METHOD_UNKNOWN", [textParam(params, 1)]);
  },
  "host.call_plugin": (context, params) => {
    const host = textParam(params, 0);
    const brand = map(context.db.get("host", host), "software_version");
    const [plugin, fn] = [textParam(params, 1), textParam(params, 2)];
    if (plugin === "updater.py" && brand["product_brand"] === "XCP-ng")
      return callUpdater(context, { host, fn, args: mapParam(params, 3) });
    if (plugin === "sdncontroller.py" && brand["product_brand"] === "XCP-ng")
      return callFlowPlugin(context, { host, fn, args: mapParam(params, 3) });
    return callPlugin(plugin, fn);
  },
  "host.get_management_interface": ({ db }, params) => {
    const host = textParam(params, 0);
    const pif = refs(db.get("host", host), "PIFs").find((ref) =>
      flag(db.get("PIF", ref), "management"),
    );
    if (pif === undefined)
      throw new XapiFailure("INTERNAL_ERROR", ["Not_found"]);
    return pif;
  },
  "host.dmesg": () =>
    "(XEN) Xen version 4.17.5\n(XEN) Command line: dom0_mem=8192M\n",
  "host.get_log": () => "",
  "host.get_system_status_capabilities": () => "<capabilities></capabilities>",
  "host.get_uncooperative_resident_VMs": () => [],
  "host.get_uncooperative_domains": () => [],
  "host.certificate_list": () => [],
  "host.crl_list": () => [],
  "host.set_hostname_live": ({ db }, params) => {
    const [host, hostname] = [textParam(params, 0), textParam(params, 1)];
    db.get("host", host);
    if (hostname === "")
      throw new XapiFailure("HOST_NAME_INVALID", ["empty hostname"]);
    if (!/^[a-z0-9]([a-z0-9-.]*[a-z0-9])?$/i.test(hostname))
      throw new XapiFailure("HOST_NAME_INVALID", [
        "hostname contains invalid characters",
      ]);
    db.update("host", host, { hostname });
  },
  "host.set_iscsi_iqn": ({ db }, params) => {
    const [host, iscsi_iqn] = [textParam(params, 0), textParam(params, 1)];
    if (iscsi_iqn === "") throw invalidValue("value", "");
    db.update("host", host, { iscsi_iqn });
  },
  "host.set_power_on_mode": ({ db }, params) => {
    db.update("host", textParam(params, 0), {
      power_on_mode: textParam(params, 1),
      power_on_config: params[2]!,
    });
  },
  "host.is_in_emergency_mode": () => false,
  "host.sync_data": () => undefined,
  "host.backup_rrds": () => undefined,
  "host.syslog_reconfigure": () => undefined,
  "host.apply_edition": ({ db }, params) => {
    db.update("host", textParam(params, 0), { edition: textParam(params, 1) });
  },
  "host.refresh_pack_info": () => undefined,
  "host.get_sched_gran": ({ db }, params) =>
    map(db.get("host", textParam(params, 0)), "other_config")[GRANULARITY] ??
    "cpu",
  "host.set_sched_gran": ({ db }, params) => {
    const host = textParam(params, 0);
    const other_config = map(db.get("host", host), "other_config");
    const value = textParam(params, 1);
    db.update("host", host, {
      other_config: { ...other_config, [GRANULARITY]: value },
    });
  },
  "host.management_reconfigure": ({ db }, params) => {
    manageBy({ db }, textParam(params, 0));
  },
  "host.local_management_reconfigure": () => {
    throw new XapiFailure("NOT_IN_EMERGENCY_MODE");
  },
  "host.enable_local_storage_caching": ({ db }, params) => {
    const [host, sr] = [textParam(params, 0), textParam(params, 1)];
    assertDisabled(db, host);
    db.get("SR", sr);
    db.update("host", host, { local_cache_sr: sr });
    db.update("SR", sr, { local_cache_enabled: true });
  },
  "host.disable_local_storage_caching": ({ db }, params) => {
    const host = textParam(params, 0);
    assertDisabled(db, host);
    const sr = text(db.get("host", host), "local_cache_sr");
    db.update("host", host, { local_cache_sr: NULL_REF });
    if (db.find("SR", sr) !== undefined)
      db.update("SR", sr, { local_cache_enabled: false });
  },
  "host.get_ntp_synchronized": () => true,
};

function assertDisabled(db: CallContext["db"], host: string): void {
  if (flag(db.get("host", host), "enabled"))
    throw new XapiFailure("HOST_NOT_DISABLED");
}

/** A call of an extension that is not installed is read as JSON first. */
function assertJson(call: string): void {
  const word = /^[a-z]+/i.exec(call.trim())?.[0];
  if (word === undefined || ["true", "false", "null"].includes(word)) return;
  throw internalError(
    `Yojson__Common.Json_error("Line 1, bytes 0-${call.length}:\\nInvalid token '${call}'")`,
  );
}

/** XAPI stores it in the boot loader's configuration. */
const GRANULARITY = "sim:sched-gran";

/** The host is reached by this interface from now on. */
export function manageBy({ db }: HostContext, pif: string): void {
  const record = db.get("PIF", pif);
  if (text(record, "ip_configuration_mode") === "None")
    throw new XapiFailure("PIF_HAS_NO_NETWORK_CONFIGURATION", [pif]);
  for (const other of refs(db.get("host", text(record, "host")), "PIFs"))
    db.update("PIF", other, { management: other === pif });
}

interface HostContext {
  readonly db: CallContext["db"];
}

/**
 * Only a disabled host without guests shuts down. The response is sent before;
 * all sessions end with the coordinator.
 */
async function restart(
  context: CallContext,
  host: string,
  { comesBack }: { comesBack: boolean },
): Promise<void> {
  const { db, pool } = context;
  const record = db.get("host", host);
  if (flag(record, "enabled")) throw new XapiFailure("HOST_NOT_DISABLED");
  const [guest] = guestsOn(context, host);
  if (guest !== undefined)
    throw new XapiFailure("HOST_IN_USE", [host, "VM", guest]);
  await whileBusy(
    context,
    { className: "host", ref: host },
    comesBack ? "reboot" : "shutdown",
    async () => {
      await context.delay(durations.hostAgent);
      createMessage(
        context,
        { cls: "Host", uuid: text(record, "uuid") },
        comesBack ? "HOST_REBOOT" : "HOST_SHUTDOWN",
        "",
      );
      // It is declared dead before it is [xapi_host.ml, from memory].
      setLive(context, host, false);
    },
  );
  const loss = comesBack ? { backAfter: durations.hostReboot } : {};
  pool.later(durations.fuse, () =>
    takeHostOffline(context, host, { crash: true, ...loss }),
  );
}

/** HA tolerates the loss of this host, or the host stays. */
function disable({ db }: CallContext, host: string): void {
  const { enabled } = db.get("host", host);
  db.update("host", host, { enabled: false });
  try {
    assertPlanHolds(db);
  } catch (error) {
    db.update("host", host, { enabled: enabled! });
    throw error;
  }
  refreshHost(db, host);
}

/** The host with all that is only its own. */
export function removeHost(
  { db }: HostContext,
  host: string,
  controlDomain: string,
): void {
  const record = db.get("host", host);
  for (const pif of refs(record, "PIFs")) removeWiring(db, pif);
  for (const [className, field] of ownParts)
    for (const ref of refs(record, field)) db.destroy(className, ref);
  if (db.find("VM", controlDomain) !== undefined) {
    for (const ref of refs(db.get("VM", controlDomain), "consoles"))
      db.destroy("console", ref);
    const metrics = text(db.get("VM", controlDomain), "metrics");
    db.destroy("VM", controlDomain);
    if (db.find("VM_metrics", metrics) !== undefined)
      db.destroy("VM_metrics", metrics);
  }
  db.destroy("host", host);
  const metrics = text(record, "metrics");
  if (db.find("host_metrics", metrics) !== undefined)
    db.destroy("host_metrics", metrics);
}

/** Deletes what depends on an interface: VLANs, bonds and metrics. */
function removeWiring(db: CallContext["db"], pif: string): void {
  const record = db.get("PIF", pif);
  for (const bond of refs(record, "bond_master_of")) db.destroy("Bond", bond);
  const vlan = text(record, "VLAN_master_of");
  if (db.find("VLAN", vlan) !== undefined) db.destroy("VLAN", vlan);
  const metrics = text(record, "metrics");
  if (db.find("PIF_metrics", metrics) !== undefined)
    db.destroy("PIF_metrics", metrics);
}

const ownParts = [
  ["PBD", "PBDs"],
  ["PIF", "PIFs"],
  ["host_cpu", "host_CPUs"],
  ["PCI", "PCIs"],
  ["PGPU", "PGPUs"],
  ["PUSB", "PUSBs"],
  ["Feature", "features"],
  ["Certificate", "certificates"],
] as const;

/** Plugins are scripts on the host; those that management servers call have canned answers. */
function callPlugin(plugin: string, fn: string): string {
  switch (`${plugin}.${fn}`) {
    case "raid.py.check_raid_pool":
      return "[]";
    case "smartctl.py.health":
    case "ipmitool.py.get_all_sensors":
      return "{}";
    case "hyperthreading.py.get_hyperthreading":
      return "true";
    case "trim.do_trim":
      return "True";
    case "netdata.py.is_netdata_installed":
      return "false";
    default:
      throw new XapiFailure("XENAPI_MISSING_PLUGIN", [plugin]);
  }
}
