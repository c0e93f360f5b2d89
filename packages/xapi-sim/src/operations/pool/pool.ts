import type { OperationTable } from "../../operation.js";
import { XapiFailure, internalError } from "../../xapi-failure.js";
import { ejectHost } from "../../joined-hosts.js";
import { durations } from "../effects/durations.js";
import { flag, map, refs, text, textParam } from "../../records/fields.js";
import { manageBy, removeHost } from "../host/host.js";
import { removeLocalSrs } from "../storage/sr.js";

export const poolOperationTable: OperationTable = {
  "pool.sync_database": async (context) => {
    await context.delay(durations.poolChange);
  },
  "pool.eject": async (context, params) => {
    const { db, pool } = context;
    const host = textParam(params, 0);
    const record = db.get("host", host);
    if (flag(db.get("pool", pool.poolRef), "ha_enabled"))
      throw new XapiFailure("HA_IS_ENABLED");
    if (host === pool.coordinatorRef())
      throw internalError("Xapi_pool.Cannot_eject_master");
    const guests = refs(record, "resident_VMs").filter(
      (vm) => !flag(db.get("VM", vm), "is_control_domain"),
    );
    if (guests.length > 0)
      throw new XapiFailure("HOST_HAS_RESIDENT_VMS", [host]);
    await context.delay(durations.poolChange);
    removeLocalSrs(context, host);
    removeHost({ db }, host, text(record, "control_domain"));
    ejectHost(context.state, host);
  },
  "pool.management_reconfigure": ({ db }, params) => {
    const network = textParam(params, 0);
    const pifs = refs(db.get("network", network), "PIFs");
    const hosts = new Set(pifs.map((pif) => text(db.get("PIF", pif), "host")));
    for (const host of db.refs("host"))
      if (!hosts.has(host))
        throw new XapiFailure("PIF_NOT_PRESENT", [host, network]);
    for (const pif of pifs) manageBy({ db }, pif);
  },
  "pool.get_license_state": ({ db }, params) => {
    db.get("pool", textParam(params, 0));
    const expiries = [...db.records("host")].map(
      ([, host]) => map(host, "license_params")["expiry"],
    );
    return {
      edition: "xcp-ng",
      expiry: expiries.map(String).sort()[0] ?? "never",
    };
  },
  "pool.apply_edition": ({ db }, params) => {
    for (const host of db.refs("host"))
      db.update("host", host, { edition: textParam(params, 1) });
  },
  "pool.has_extension": () => false,
  "pool.recover_slaves": () => [],
  "pool.retrieve_wlb_recommendations": () => ({}),
  "pool.crl_list": () => [],
  "pool.certificate_sync": () => undefined,
  "pool.rotate_secret": () => undefined,
  "pool.audit_log_append": () => undefined,
  // Simulated hosts reach nothing outside of their pool.
  "pool.send_test_post": () => {
    throw internalError("Connection failed: connection refused.");
  },
  "pool.configure_repository_proxy": ({ db }, params) => {
    db.update("pool", textParam(params, 0), {
      repository_proxy_url: textParam(params, 1),
      repository_proxy_username: textParam(params, 2),
    });
  },
  "pool.get_guest_secureboot_readiness": () => "ready",
  "pool.check_update_readiness": () => [],
  "Diagnostics.db_stats": ({ db }) => ({
    n: String(db.generation),
    avgtime: "0.000000",
    min: "0.000000",
    max: "0.000004",
  }),
};
