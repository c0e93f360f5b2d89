import { NULL_REF } from "@xo-server/model";
import { toDatetime } from "../../clock.js";
import type { CallContext } from "../../operation.js";
import type { XapiRecord } from "../../xapi-value.js";
import { consoleLocation } from "../../fleet/consoles.js";
import { guestMetricsFields } from "../../fleet/guest-metrics.js";
import { guestSystems } from "../../fleet/guest-systems.js";
import {
  flag,
  int,
  map,
  refIn,
  refs,
  text,
  without,
} from "../../records/fields.js";
import { deviceOf } from "../../records/device-names.js";
import { clearVmGuidances } from "./boot-updates.js";
import { isPv } from "../effects/refresh.js";
import { endRun } from "../../rrd/vm-runs.js";
import { beginResidency, endResidency } from "../../rrd/residency.js";
import { memoryNeeded, releaseMemory } from "../capacity/host-memory.js";

/*
 * Start and end of a domain: the changes in the database, in the order in which
 * XAPI writes them. Both sides of relations follow automatically.
 */

/** The VM has a domain on `host`, paused; its devices are attached, its consoles open. */
export function buildDomain(
  context: CallContext,
  ref: string,
  host: string,
): void {
  const { db } = context;
  const vm = db.get("VM", ref);
  releaseMemory(db, host, -memoryNeeded(vm));
  for (const vbd of refs(vm, "VBDs")) attachDisk(context, vbd, true);
  for (const vif of refs(vm, "VIFs"))
    db.update("VIF", vif, { currently_attached: true });
  db.update("VM", ref, {
    power_state: "Paused",
    resident_on: host,
    scheduled_to_be_resident_on: NULL_REF,
    domid: nextDomid(context, host),
    domarch: isPv(vm) ? "x64" : "hvm",
  });
  openConsoles(context, ref, host);
}

/** The guest boots: metrics are reset, and its agent reports in a new VM_guest_metrics; the old one is deleted. */
export function bootGuest(context: CallContext, ref: string): void {
  const { db, clock } = context;
  const vm = db.get("VM", ref);
  const now = toDatetime(clock.now());
  updateMetrics(context, vm, {
    start_time: now,
    last_updated: now,
    memory_actual: int(vm, "memory_dynamic_max"),
    VCPUs_number: int(vm, "VCPUs_at_startup"),
    state: ["running"],
    hvm: !isPv(vm),
    current_domain_type: isPv(vm) ? "pv" : "hvm",
  });
  const old = refIn(vm, "guest_metrics");
  const guest_metrics = db.create("VM_guest_metrics", {
    ...agentReport(context, vm),
    last_updated: now,
    live: true,
  });
  db.update("VM", ref, { power_state: "Running", guest_metrics });
  if (old !== undefined && db.find("VM_guest_metrics", old) !== undefined)
    db.destroy("VM_guest_metrics", old);
}

/** The agent's last report, or the defaults of the guest's template. */
function agentReport({ db, random }: CallContext, vm: XapiRecord): XapiRecord {
  const old = db.find("VM_guest_metrics", text(vm, "guest_metrics"));
  if (old !== undefined) {
    return without(old, "uuid");
  }
  const template = map(vm, "other_config")["base_template_name"];
  const system = guestSystems.find(
    (candidate) => candidate.template === template,
  );
  return system === undefined
    ? {}
    : guestMetricsFields(system, random.integer(65536));
}

/** The domain has ended. `power_state` is the VM's new state: Halted or Suspended. */
export function endDomain(
  context: CallContext,
  ref: string,
  power_state: "Halted" | "Suspended",
): void {
  const { db } = context;
  const vm = db.get("VM", ref);
  const host = refIn(vm, "resident_on");
  if (host !== undefined) {
    releaseMemory(db, host, memoryNeeded(vm));
    endResidency(context, ref, context.clock.now() / 1000);
    endRun(context, vm, context.clock.now() / 1000);
  }
  for (const vbd of refs(vm, "VBDs")) attachDisk(context, vbd, false);
  for (const vif of refs(vm, "VIFs"))
    db.update("VIF", vif, { currently_attached: false });
  closeConsoles(context, ref);
  clearVmGuidances(context, ref, true);
  db.update("VM", ref, {
    power_state,
    resident_on: NULL_REF,
    scheduled_to_be_resident_on: NULL_REF,
    domid: -1,
  });
  const metrics = refIn(vm, "guest_metrics");
  if (
    metrics !== undefined &&
    db.find("VM_guest_metrics", metrics) !== undefined
  )
    db.update("VM_guest_metrics", metrics, { live: false });
  updateMetrics(context, vm, { memory_actual: 0, VCPUs_number: 0, state: [] });
}

/** The same VM in a new domain on the same host. */
export function renewDomain(context: CallContext, ref: string): void {
  const vm = context.db.get("VM", ref);
  const host = text(vm, "resident_on");
  endResidency(context, ref, context.clock.now() / 1000);
  endRun(context, vm, context.clock.now() / 1000);
  clearVmGuidances(context, ref, true);
  context.db.update("VM", ref, {
    domid: nextDomid(context, host),
    power_state: "Running",
  });
  bootGuest(context, ref);
}

/** The domain continues on another host. */
export function moveDomain(
  context: CallContext,
  ref: string,
  host: string,
): void {
  const { db, clock } = context;
  const vm = db.get("VM", ref);
  const source = text(vm, "resident_on");
  endResidency(context, ref, clock.now() / 1000);
  beginResidency(context.state, ref, clock.now() / 1000);
  releaseMemory(db, source, memoryNeeded(vm));
  releaseMemory(db, host, -memoryNeeded(vm));
  clearVmGuidances(context, ref, false);
  db.update("VM", ref, {
    resident_on: host,
    scheduled_to_be_resident_on: NULL_REF,
    domid: nextDomid(context, host),
  });
  closeConsoles(context, ref);
  openConsoles(context, ref, host);
}

/** Changes fields of the VM's VM_metrics, if it has one. */
export function updateMetrics(
  { db }: Pick<CallContext, "db">,
  vm: XapiRecord,
  patch: XapiRecord,
): void {
  const metrics = refIn(vm, "metrics");
  if (metrics !== undefined && db.find("VM_metrics", metrics) !== undefined)
    db.update("VM_metrics", metrics, patch);
}

function attachDisk({ db }: CallContext, ref: string, attached: boolean): void {
  const vbd = db.get("VBD", ref);
  db.update("VBD", ref, {
    currently_attached: attached && !flag(vbd, "empty"),
    device: attached ? deviceOf(vbd) : "",
  });
}

/** Creates the consoles of a started VM; their location is an address of its host. */
function openConsoles(
  { db, pool }: CallContext,
  vm: string,
  host: string,
): void {
  // A host that has no listener has its consoles at the coordinator's.
  const address =
    pool.addressOf(host) ??
    pool.addressOf(pool.coordinatorRef()) ??
    text(db.get("host", host), "address");
  for (const protocol of ["rfb", "vt100"]) {
    const ref = db.newRef();
    db.create(
      "console",
      { protocol, location: consoleLocation(address, ref), VM: vm },
      ref,
    );
  }
}

/** Destroys the console records of a VM; open connections to them are not closed here. */
function closeConsoles({ db }: CallContext, vm: string): void {
  for (const ref of refs(db.get("VM", vm), "consoles"))
    db.destroy("console", ref);
}

/** Domain ids are given out once, in order. */
function nextDomid({ db }: CallContext, host: string): number {
  let last = 0;
  for (const vm of refs(db.get("host", host), "resident_VMs"))
    last = Math.max(last, int(db.get("VM", vm), "domid"));
  return last + 1;
}
