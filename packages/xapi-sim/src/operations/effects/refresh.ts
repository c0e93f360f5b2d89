import type { Database } from "../../database.js";
import {
  hostOperations,
  isoSrOperations,
  poolOperations,
  srOperations,
  unpluggedSrOperations,
  vbdOperations,
  vdiOperations,
  vifOperations,
  vmOperations,
} from "../../records/allowed-operations.js";
import type { XapiRecord } from "../../xapi-value.js";
import { flag, map, refIn, refs, text } from "../../records/fields.js";

/*
 * Updates allowed_operations for the state of an object, like XAPI's
 * update_allowed_operations. A deleted object is skipped.
 */

/** The VM and its devices. */
export function refreshVm(db: Database, ref: string): void {
  const vm = db.find("VM", ref);
  if (vm === undefined) return;
  const busy = Object.keys(map(vm, "current_operations")).length > 0;
  const possible = busy
    ? ["hard_shutdown"].filter(() => text(vm, "power_state") !== "Halted")
    : vmOperations({
        powerState: text(vm, "power_state"),
        isTemplate: flag(vm, "is_a_template"),
        isSnapshot: flag(vm, "is_a_snapshot"),
        isControlDomain: flag(vm, "is_control_domain"),
        agent: hasAgent(db, ref),
        isPv: isPv(vm),
      });
  const blocked = map(vm, "blocked_operations");
  const allowed_operations = possible.filter(
    (name) => !Object.hasOwn(blocked, name),
  );
  db.update("VM", ref, { allowed_operations });
  for (const vbd of refs(vm, "VBDs")) refreshVbd(db, vbd);
  for (const vif of refs(vm, "VIFs")) refreshVif(db, vif);
}

/** Whether guest tools run: HVM guests need them for clean shutdown, migration and hot plug. */
export function hasAgent(db: Database, vm: string): boolean {
  const metrics = refIn(db.get("VM", vm), "guest_metrics");
  if (metrics === undefined) return false;
  const record = db.find("VM_guest_metrics", metrics);
  return record !== undefined && flag(record, "PV_drivers_detected");
}

/** PV guests do all that without guest tools. */
export function hasAgentOrIsPv(db: Database, vm: string): boolean {
  return isPv(db.get("VM", vm)) || hasAgent(db, vm);
}

/** Whether the guest is paravirtualized (`domain_type` pv). */
export function isPv(vm: XapiRecord): boolean {
  return vm["domain_type"] === "pv";
}

/** The VBD and the disk behind it. */
export function refreshVbd(db: Database, ref: string): void {
  const vbd = db.find("VBD", ref);
  if (vbd === undefined) return;
  db.update("VBD", ref, {
    allowed_operations: isBusy(vbd)
      ? []
      : vbdOperations({
          type: text(vbd, "type"),
          empty: flag(vbd, "empty"),
          attached: flag(vbd, "currently_attached"),
          canHotPlug: canHotPlug(db, text(vbd, "VM")),
        }),
  });
  const vdi = refIn(vbd, "VDI");
  if (vdi !== undefined) refreshVdi(db, vdi);
}

/** Computes `allowed_operations` again, after a change of the VIF or of its VM. */
export function refreshVif(db: Database, ref: string): void {
  const vif = db.find("VIF", ref);
  if (vif === undefined) return;
  db.update("VIF", ref, {
    allowed_operations: isBusy(vif)
      ? []
      : vifOperations(
          flag(vif, "currently_attached"),
          canHotPlug(db, text(vif, "VM")),
        ),
  });
}

/** Computes `allowed_operations` again, after a change of the disk or of its VBDs. */
export function refreshVdi(db: Database, ref: string): void {
  const vdi = db.find("VDI", ref);
  if (vdi === undefined) return;
  const readOnly = flag(vdi, "read_only") || flag(vdi, "is_a_snapshot");
  db.update("VDI", ref, {
    allowed_operations: isBusy(vdi)
      ? []
      : vdiOperations({
          // An ISO image may be attached to many VMs at once.
          inUse: !readOnly && isInUse(db, ref),
          readOnly,
          isTracked: flag(vdi, "cbt_enabled"),
          isMetadata: text(vdi, "type") === "cbt_metadata",
        }),
  });
}

/**
 * Updates the operations that are allowed on an SR: most need a plugged PBD, some need that
 * none is plugged.
 */
export function refreshSr(db: Database, ref: string): void {
  const sr = db.find("SR", ref);
  if (sr === undefined) return;
  const plugged = refs(sr, "PBDs").some(
    (pbd) => db.find("PBD", pbd)?.["currently_attached"] === true,
  );
  const whenPlugged =
    sr["content_type"] === "iso" ? isoSrOperations : srOperations;
  db.update("SR", ref, {
    allowed_operations: plugged ? whenPlugged : unpluggedSrOperations,
  });
}

/** HA is enabled or disabled, as it is not or is. */
export function refreshPool(db: Database, ref: string): void {
  const pool = db.find("pool", ref);
  if (pool === undefined) return;
  const busy = Object.values(map(pool, "current_operations"));
  const ha = flag(pool, "ha_enabled") ? "ha_disable" : "ha_enable";
  db.update("pool", ref, {
    allowed_operations: poolOperations
      .map((name) => (name === "ha_enable" ? ha : name))
      .filter((name) => !busy.includes(name)),
  });
}

function isBusy(record: XapiRecord): boolean {
  return Object.keys(map(record, "current_operations")).length > 0;
}

/** Updates `allowed_operations` of a host, which follow from whether it is enabled. */
export function refreshHost(db: Database, ref: string): void {
  const host = db.find("host", ref);
  if (host === undefined) return;
  db.update("host", ref, {
    allowed_operations: hostOperations(flag(host, "enabled")),
  });
}

/** Whether a running VM has the disk open. */
export function isInUse(db: Database, vdi: string): boolean {
  return refs(db.get("VDI", vdi), "VBDs").some((vbd) => {
    const record = db.find("VBD", vbd);
    return record !== undefined && flag(record, "currently_attached");
  });
}

function canHotPlug(db: Database, vm: string): boolean {
  return (
    db.find("VM", vm)?.["power_state"] === "Running" && hasAgentOrIsPv(db, vm)
  );
}
