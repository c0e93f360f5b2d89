import type { Database } from "../../database.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure, internalError } from "../../xapi-failure.js";
import { operationNotAllowed } from "../effects/failures.js";
import { flag, map, text, textParam } from "../../records/fields.js";

/** Services beside the pool: without them, calls are refused as on a pool that has none. */
export const poolServiceOperations: OperationTable = {
  "pool.initialize_wlb": () => {
    throw new XapiFailure("WLB_CONNECTION_REFUSED");
  },
  "pool.deconfigure_wlb": noWlb,
  "pool.send_wlb_configuration": noWlb,
  "pool.retrieve_wlb_configuration": noWlb,
  "pool.enable_redo_log": ({ db, pool }, params) => {
    const type = text(db.get("SR", textParam(params, 0)), "type");
    if (!type.startsWith("lvmo"))
      throw internalError(
        'Xapi_database.Redo_log.RedoLogFailure("Cannot connect to redo log")',
      );
    db.update("pool", pool.poolRef, { redo_log_enabled: true });
  },
  "pool.disable_redo_log": ({ db, pool }) => {
    db.update("pool", pool.poolRef, { redo_log_enabled: false });
  },
  "pool.set_vswitch_controller": ({ db, pool }, params) => {
    assertVswitch(db);
    db.update("pool", pool.poolRef, {
      vswitch_controller: textParam(params, 0),
    });
  },
  "SDN_controller.introduce": ({ db }, params) => {
    assertVswitch(db);
    const [protocol, address, port] = params;
    return db.create("SDN_controller", {
      protocol: protocol!,
      address: address!,
      port: port!,
    });
  },
  "SDN_controller.forget": ({ db }, params) => {
    db.destroy("SDN_controller", textParam(params, 0));
  },
  "pool.set_igmp_snooping_enabled": ({ db }, params) => {
    if (!hasVswitch(db)) throw new XapiFailure("OPENVSWITCH_NOT_ACTIVE");
    db.update("pool", textParam(params, 0), {
      igmp_snooping_enabled: params[1] === true,
    });
  },
  "PVS_site.introduce": ({ db }, params) => {
    if (!hasVswitch(db)) throw new XapiFailure("OPENVSWITCH_NOT_ACTIVE");
    const [name_label, name_description, PVS_uuid] =
      params as readonly string[];
    return db.create("PVS_site", {
      name_label: name_label!,
      name_description: name_description!,
      PVS_uuid: PVS_uuid!,
    });
  },
  "PVS_site.forget": ({ db }, params) => {
    db.destroy("PVS_site", textParam(params, 0));
  },
  "DR_task.create": ({ db }, params) => {
    const type = textParam(params, 0);
    const isKnown = [...db.records("SM")].some(([, sm]) => sm["type"] === type);
    if (!isKnown)
      throw internalError(`Sm.Unknown_driver(${JSON.stringify(type)})`);
    throw new XapiFailure("SR_OPERATION_NOT_SUPPORTED", [type]);
  },
  "Cluster.create": ({ db }, params) => createCluster(db, params),
  "Cluster.destroy": ({ db }, params) => {
    const cluster = textParam(params, 0);
    for (const [ref, host] of [...db.records("Cluster_host")])
      if (host["cluster"] === cluster) db.destroy("Cluster_host", ref);
    db.destroy("Cluster", cluster);
  },
  "pool.set_https_only": ({ db }, params) => {
    for (const host of [...db.refs("host")])
      db.update("host", host, { https_only: params[1] === true });
  },
  "pool.reset_telemetry_uuid": ({ db, random }, params) => {
    const telemetry_uuid = db.create("secret", { value: random.uuid() });
    db.update("pool", textParam(params, 0), { telemetry_uuid });
  },
  "Observer.create": ({ db }, params) => {
    const record = params[0] as Parameters<Database["create"]>[1];
    for (const component of record["components"] as readonly string[])
      if (!OBSERVED.includes(component))
        throw new XapiFailure("INVALID_VALUE", ["component", component]);
    return db.create("Observer", record);
  },
};

const OBSERVED = ["xapi", "xenopsd", "xapi-clusterd", "smapi"];

function noWlb(): never {
  throw new XapiFailure("WLB_NOT_INITIALIZED");
}

function hasVswitch(db: Database): boolean {
  return [...db.records("host")].every(
    ([, host]) =>
      map(host, "software_version")["network_backend"] === "openvswitch",
  );
}

function assertVswitch(db: Database): void {
  if (!hasVswitch(db))
    throw operationNotAllowed("host not configured for vswitch operation");
}

/** [xapi_cluster.ml, from memory] */
function createCluster(
  db: CallContext["db"],
  params: Parameters<OperationTable[string]>[1],
): string {
  const [ref, stack] = [textParam(params, 0), textParam(params, 1)];
  const pif = db.get("PIF", ref);
  if (!flag(pif, "disallow_unplug"))
    throw new XapiFailure("PIF_ALLOWS_UNPLUG", [ref]);
  if (stack !== "corosync")
    throw new XapiFailure("INVALID_CLUSTER_STACK", [stack]);
  if (text(pif, "IP") === "")
    throw new XapiFailure("INTERFACE_HAS_NO_IP", [ref]);
  const cluster = db.create("Cluster", {
    cluster_stack: stack,
    pool_auto_join: params[2] === true,
  });
  const host = text(pif, "host");
  db.create("Cluster_host", { cluster, host, PIF: ref, enabled: true });
  return cluster;
}
