import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import {
  failoverPlan,
  mostFailures,
  mostFailuresSliced,
} from "./failover-plan.js";
import { invalidValue } from "../effects/failures.js";
import {
  flag,
  int,
  intParam,
  map,
  refs,
  text,
  textParam,
} from "../../records/fields.js";
import { refreshPool, refreshVdi } from "../effects/refresh.js";
import { removeVdi } from "../storage/vdi.js";
import { addAllocation, takeSpace } from "../storage/sr-space.js";
import {
  assertCanHostStatefile,
  statefileTypes,
} from "../storage/sr-checks.js";
import { plugsOf } from "../vm/vm-checks.js";

const MiB = 2 ** 20;
const STATEFILE_BYTES = 256 * MiB;
export const haOperations: OperationTable = {
  "pool.enable_ha": async (context, params) => {
    const { db, pool } = context;
    const record = db.get("pool", pool.poolRef);
    if (flag(record, "ha_enabled")) throw new XapiFailure("HA_IS_ENABLED");
    if (map(record, "restrictions")["restrict_ha"] === "true")
      throw new XapiFailure("LICENCE_RESTRICTION", ["HA"]);
    const srs = heartbeatSrs(context, params[0] as readonly string[]);
    assertAllHostsReach(context, srs);
    const tolerated = int(record, "ha_host_failures_to_tolerate");
    if (mostFailures(db) < tolerated) throw new XapiFailure("HA_NO_PLAN");
    await busy(context, "ha_enable");
    const statefiles = srs.map((sr) =>
      addDisk(context, sr, "Statefile for HA", "ha_statefile"),
    );
    addDisk(context, srs[0]!, "Metadata for HA", "redo_log");
    db.update("pool", pool.poolRef, {
      ha_enabled: true,
      ha_configuration: params[1]!,
      ha_statefiles: statefiles,
      ha_host_failures_to_tolerate: tolerated,
      ha_plan_exists_for: mostFailures(db),
      redo_log_enabled: true,
    });
    refreshPool(db, pool.poolRef);
    const hosts = [...db.refs("host")];
    const peers = hosts.map((host) => text(db.get("host", host), "uuid"));
    for (const host of hosts)
      db.update("host", host, {
        ha_statefiles: statefiles,
        ha_network_peers: peers,
      });
  },
  "pool.disable_ha": async (context) => {
    const { db, pool } = context;
    if (!flag(db.get("pool", pool.poolRef), "ha_enabled"))
      throw new XapiFailure("HA_NOT_ENABLED");
    await busy(context, "ha_disable");
    stopHa(context);
  },
  "host.emergency_ha_disable": (context) => {
    const { db, pool } = context;
    if (flag(db.get("pool", pool.poolRef), "ha_enabled")) stopHa(context);
  },
  "pool.set_ha_host_failures_to_tolerate": ({ db }, params) => {
    const [pool, requested] = [textParam(params, 0), intParam(params, 1)];
    if (requested < 0)
      throw invalidValue("ha_host_failures_to_tolerate", String(requested));
    const most = mostFailures(db);
    if (flag(db.get("pool", pool), "ha_enabled") && requested > most)
      throw new XapiFailure("HA_NO_PLAN");
    db.update("pool", pool, {
      ha_host_failures_to_tolerate: requested,
      ha_plan_exists_for: most,
      ha_overcommitted: requested > most,
    });
  },
  "pool.ha_failover_plan_exists": ({ db }, params) =>
    Number(params[0]) <= mostFailures(db),
  "pool.ha_compute_max_host_failures_to_tolerate": ({ db }) =>
    mostFailuresSliced(db),
  "pool.ha_compute_hypothetical_max_host_failures_to_tolerate": ({ db }) =>
    mostFailuresSliced(db),
  "pool.ha_compute_vm_failover_plan": ({ db }, params) => {
    const [failed, vms] = params as readonly (readonly string[])[];
    const plan = failoverPlan(db, failed!);
    return Object.fromEntries(
      vms!.map((vm) => [vm, planned(plan?.get(vm))] as const),
    );
  },
  "pool.ha_prevent_restarts_for": () => undefined,
  "pool.ha_schedule_plan_recomputation": () => undefined,
  "VM.set_ha_restart_priority": ({ db, pool }, params) => {
    const [vm, priority] = [textParam(params, 0), textParam(params, 1)];
    if (!["restart", "best-effort", ""].includes(priority))
      throw invalidValue("ha_restart_priority", priority);
    const before = text(db.get("VM", vm), "ha_restart_priority");
    const enabled = flag(db.get("pool", pool.poolRef), "ha_enabled");
    if (enabled && priority === "restart") assertAgile({ db }, vm);
    db.update("VM", vm, {
      ha_restart_priority: priority,
      ha_always_run: priority === "restart",
    });
    const { ha_host_failures_to_tolerate } = db.get("pool", pool.poolRef);
    if (!enabled || mostFailures(db) >= Number(ha_host_failures_to_tolerate))
      return;
    db.update("VM", vm, {
      ha_restart_priority: before,
      ha_always_run: before === "restart",
    });
    throw new XapiFailure("HA_OPERATION_WOULD_BREAK_FAILOVER_PLAN");
  },
  "VM.assert_agile": ({ db }, params) => {
    assertAgile({ db }, textParam(params, 0));
  },
};

type DbContext = Pick<CallContext, "db">;

function planned(host: string | undefined): Readonly<Record<string, string>> {
  return host === undefined ? { error_code: "HA_NO_PLAN" } : { host };
}

/** A protected VM must be able to start on any host [agility.ml, from memory]. */
function assertAgile({ db }: DbContext, vm: string): void {
  const record = db.get("VM", vm);
  for (const vbd of refs(record, "VBDs")) {
    const vdi = db.find("VDI", text(db.get("VBD", vbd), "VDI"));
    if (vdi === undefined) continue;
    const sr = text(vdi, "SR");
    if (!flag(db.get("SR", sr), "shared"))
      throw new XapiFailure("HA_CONSTRAINT_VIOLATION_SR_NOT_SHARED", [sr]);
  }
  const hosts = db.count("host");
  for (const vif of refs(record, "VIFs")) {
    const network = text(db.get("VIF", vif), "network");
    const reached = new Set(
      refs(db.get("network", network), "PIFs").map((pif) =>
        text(db.get("PIF", pif), "host"),
      ),
    );
    if (reached.size < hosts)
      throw new XapiFailure("HA_CONSTRAINT_VIOLATION_NETWORK_NOT_SHARED", [
        network,
      ]);
  }
}

/** Returns the requested SRs, which must all be suitable; without a request the first suitable one. */
function heartbeatSrs(
  { db }: CallContext,
  named: readonly string[],
): readonly string[] {
  for (const sr of named) assertCanHostStatefile(db, sr);
  if (named.length > 0) return named;
  const [first] = [...db.records("SR")].find(
    ([, sr]) => flag(sr, "shared") && statefileTypes.has(text(sr, "type")),
  ) ?? [undefined];
  if (first === undefined) throw new XapiFailure("CANNOT_CREATE_STATE_FILE");
  return [first];
}

function assertAllHostsReach(
  { db }: CallContext,
  srs: readonly string[],
): void {
  for (const [host, record] of db.records("host")) {
    const metrics = db.find("host_metrics", text(record, "metrics"));
    if (metrics?.["live"] === false)
      throw new XapiFailure("HOST_OFFLINE", [host]);
    const plugged = plugsOf(db, host);
    if (srs.some((sr) => !plugged.has(sr)))
      throw new XapiFailure("HA_HOST_CANNOT_ACCESS_STATEFILE");
  }
}

function busy(
  context: CallContext,
  operation: "ha_enable" | "ha_disable",
): Promise<void> {
  const pool = context.pool.poolRef;
  return whileBusy(context, { className: "pool", ref: pool }, operation, () =>
    context.delay(durations.poolChange),
  );
}

function addDisk(
  context: CallContext,
  SR: string,
  name_label: string,
  type: string,
): string {
  const { db, random } = context;
  takeSpace(context, SR, STATEFILE_BYTES);
  addAllocation(context, SR, STATEFILE_BYTES);
  const uuid = random.uuid();
  const vdi = db.create("VDI", {
    uuid,
    location: uuid,
    name_label,
    name_description: "Used for storage heartbeating",
    SR,
    type,
    virtual_size: STATEFILE_BYTES,
    physical_utilisation: STATEFILE_BYTES,
    managed: true,
    sharable: true,
  });
  context.state.disks.create(uuid, STATEFILE_BYTES);
  refreshVdi(db, vdi);
  return vdi;
}

function stopHa(context: CallContext): void {
  const { db, pool } = context;
  for (const [ref, vdi] of [...db.records("VDI")])
    if (["ha_statefile", "redo_log"].includes(text(vdi, "type")))
      removeVdi(context, ref, { freesSpace: true });
  db.update("pool", pool.poolRef, {
    ha_enabled: false,
    ha_statefiles: [],
    ha_configuration: {},
    ha_plan_exists_for: 0,
    redo_log_enabled: false,
  });
  refreshPool(db, pool.poolRef);
  for (const host of db.refs("host"))
    db.update("host", host, { ha_statefiles: [], ha_network_peers: [] });
}
