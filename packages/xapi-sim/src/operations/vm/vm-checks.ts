import { NULL_REF } from "@xo-server/model";
import type { Database } from "../../database.js";
import type { PoolData } from "../../pool-state.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { badPowerState } from "../effects/failures.js";
import { flag, map, refs, text } from "../../records/fields.js";
import { bestHost } from "../capacity/host-choice.js";
import {
  freeMemory,
  memoryExpected,
  memoryNeeded,
} from "../capacity/host-memory.js";
import { hasAgent, hasAgentOrIsPv } from "../effects/refresh.js";

/** The preconditions of an operation on a VM, in XAPI's order. */
interface Preconditions {
  readonly states: readonly string[];
  /** Power states of a snapshot, where they differ: one with memory is suspended. */
  readonly snapshotStates?: readonly string[];
  /** Also of templates. */
  readonly templates?: boolean;
  /** Also of snapshots. */
  readonly snapshots?: boolean;
  /** While the VM runs, guest tools must run: in every guest, or in HVM guests only (PV guests need none). */
  readonly tools?: "every" | "hvm";
  /** The VM continues on another host, or later: no device may prevent that. */
  readonly moves?: boolean;
  /** Allowed although another operation is in progress. */
  readonly anyTime?: boolean;
}

const anyState = ["Halted", "Paused", "Suspended", "Running"];
const anywhere = { templates: true, snapshots: true } as const;

const preconditions = {
  start: { states: ["Halted"] },
  start_on: { states: ["Halted"] },
  pause: { states: ["Running"] },
  unpause: { states: ["Paused"] },
  clean_shutdown: { states: ["Running"], tools: "hvm" },
  clean_reboot: { states: ["Running"], tools: "hvm" },
  hard_shutdown: {
    states: ["Paused", "Suspended", "Running"],
    anyTime: true,
    snapshots: true,
  },
  hard_reboot: { states: ["Paused", "Running"] },
  suspend: { states: ["Running"], tools: "hvm", moves: true },
  resume: { states: ["Suspended"] },
  resume_on: { states: ["Suspended"] },
  pool_migrate: { states: ["Running"], tools: "hvm", moves: true },
  migrate_send: {
    states: ["Running", "Halted"],
    tools: "hvm",
    moves: true,
    templates: true,
  },
  snapshot: { states: anyState },
  checkpoint: {
    states: ["Paused", "Suspended", "Running"],
    tools: "hvm",
    moves: true,
  },
  clone: {
    states: ["Halted"],
    snapshotStates: ["Halted", "Suspended"],
    ...anywhere,
  },
  copy: {
    states: ["Halted"],
    snapshotStates: ["Halted", "Suspended"],
    ...anywhere,
  },
  revert: { states: ["Halted", "Suspended"], ...anywhere },
  destroy: { states: ["Halted", "Suspended"], ...anywhere },
  export: { states: ["Halted", "Suspended"], ...anywhere },
  call_plugin: { states: ["Running"] },
  changing_VCPUs: { states: ["Halted"], templates: true },
  changing_VCPUs_live: { states: ["Running"], tools: "every" },
  changing_static_range: { states: ["Halted"], templates: true },
  changing_dynamic_range: { states: ["Halted", "Running"], templates: true },
  changing_shadow_memory: { states: ["Halted"], templates: true },
  changing_shadow_memory_live: { states: ["Running"] },
  changing_NVRAM: { states: ["Halted"], templates: true },
} as const satisfies Readonly<Record<string, Preconditions>>;

export type CheckedOperation = keyof typeof preconditions;

const ofControlDomains: ReadonlySet<CheckedOperation> = new Set([
  "changing_static_range",
  "changing_dynamic_range",
]);

/** Long reads of a VM's disks; several may run at the same time (XAPI's xapi_vm_lifecycle). */
const longCopies: ReadonlySet<string> = new Set(["clone", "copy", "export"]);

function mayOverlap(one: string, other: string): boolean {
  return longCopies.has(one) && longCopies.has(other);
}

/** Whether `assertVmMay` knows the preconditions of this operation. */
export function isCheckedOperation(name: string): name is CheckedOperation {
  return Object.hasOwn(preconditions, name);
}

/**
 * Checks the preconditions of an operation on a VM.
 * @returns the record of the VM
 * @throws XapiFailure as XAPI fails when the VM does not satisfy them now
 */
export function assertVmMay(
  db: Database,
  ref: string,
  operation: CheckedOperation,
): XapiRecord {
  const vm = db.get("VM", ref);
  const required: Preconditions = preconditions[operation];
  assertNotBlocked(db, ref, operation);
  if (flag(vm, "is_control_domain")) {
    // Also while it runs: its memory changes at the next boot of its host [xapi_vm.ml].
    if (ofControlDomains.has(operation)) return vm;
    throw new XapiFailure("OPERATION_NOT_ALLOWED", [
      `Operation '${operation}' is not allowed on the control domain`,
    ]);
  }
  assertKind(vm, { ref, operation }, required);
  assertFree(vm, { ref, operation }, required);
  const state = text(vm, "power_state");
  const states =
    (flag(vm, "is_a_snapshot") ? required.snapshotStates : undefined) ??
    required.states;
  if (!states.includes(state)) throw badPowerState(ref, states, state);
  if (state === "Running" && lacksTools(db, ref, required))
    throw new XapiFailure("VM_LACKS_FEATURE", [ref]);
  if (state !== "Halted" && required.moves === true) assertMovable(vm, ref);
  return vm;
}

interface Attempt {
  readonly ref: string;
  readonly operation: CheckedOperation;
}

/** @throws XapiFailure VM_IS_SNAPSHOT, VM_IS_TEMPLATE */
function assertKind(
  vm: XapiRecord,
  { ref, operation }: Attempt,
  required: Preconditions,
): void {
  if (flag(vm, "is_a_snapshot")) {
    if (required.snapshots !== true)
      throw new XapiFailure("VM_IS_SNAPSHOT", [ref, operation]);
  } else if (flag(vm, "is_a_template") && required.templates !== true)
    throw new XapiFailure("VM_IS_TEMPLATE", [ref, operation]);
}

/** @throws XapiFailure OTHER_OPERATION_IN_PROGRESS */
function assertFree(
  vm: XapiRecord,
  { ref, operation }: Attempt,
  required: Preconditions,
): void {
  if (required.anyTime === true) return;
  const [task, running] =
    Object.entries(map(vm, "current_operations")).find(
      ([, other]) => !mayOverlap(operation, other as string),
    ) ?? [];
  if (task !== undefined)
    throw new XapiFailure("OTHER_OPERATION_IN_PROGRESS", [
      "VM",
      ref,
      running as string,
      task,
    ]);
}

function lacksTools(
  db: Database,
  ref: string,
  { tools }: Preconditions,
): boolean {
  if (tools === undefined) return false;
  return tools === "every" ? !hasAgent(db, ref) : !hasAgentOrIsPv(db, ref);
}

/** Devices of one host pin a VM there [xapi_vm_lifecycle.ml, from memory]. */
function assertMovable(vm: XapiRecord, ref: string): void {
  if (refs(vm, "attached_PCIs").length > 0)
    throw new XapiFailure("VM_HAS_PCI_ATTACHED", [ref]);
  if (refs(vm, "VGPUs").length > 0) throw new XapiFailure("VM_HAS_VGPU", [ref]);
  if (refs(vm, "VUSBs").length > 0)
    throw new XapiFailure("VM_HAS_VUSBS", [ref]);
}

/**
 * For the end of a long operation: a hard shutdown is possible during it.
 * @throws XapiFailure VM_BAD_POWER_STATE if the VM has stopped in the meantime
 */
export function assertStillRuns(db: Database, ref: string): void {
  const state = text(db.get("VM", ref), "power_state");
  if (state !== "Running" && state !== "Paused")
    throw badPowerState(ref, ["Running"], state);
}

/**
 * Checks that a VM can run on a host: the state of the host, its access to the disks
 * and networks of the VM, and its memory.
 * @throws XapiFailure HOST_NOT_LIVE, HOST_DISABLED, VM_REQUIRES_SR, VM_REQUIRES_NETWORK,
 *   HOST_NOT_ENOUGH_FREE_MEMORY
 */
export function assertCanBootHere(
  pool: PoolData,
  ref: string,
  host: string,
): void {
  const { db } = pool;
  const vm = db.get("VM", ref);
  assertHostRuns(db, host);
  assertSeesResources(db, ref, host);
  assertEnoughMemory(pool, { vm, ref }, host);
}

/** @throws XapiFailure VM_REQUIRES_SR, VM_REQUIRES_NETWORK */
export function assertSeesResources(
  db: Database,
  ref: string,
  host: string,
): void {
  const vm = db.get("VM", ref);
  assertSeesStorage(db, { vm, ref }, host);
  assertSeesNetworks(db, { vm, ref }, host);
}

/** @throws XapiFailure HOST_NOT_LIVE, HOST_DISABLED */
export function assertHostRuns(db: Database, host: string): void {
  const record = db.get("host", host);
  const metrics = db.find("host_metrics", text(record, "metrics"));
  if (metrics !== undefined && !flag(metrics, "live"))
    throw new XapiFailure("HOST_NOT_LIVE");
  if (!flag(record, "enabled")) throw new XapiFailure("HOST_DISABLED", [host]);
}

/** @throws XapiFailure HOST_NOT_ENOUGH_FREE_MEMORY; memory of VMs that are being migrated to the host counts as used */
export function assertEnoughMemory(
  { db, state }: PoolData,
  { vm, ref }: Booting,
  host: string,
): void {
  const needed = memoryNeeded(vm);
  const available = freeMemory(db, host) - memoryExpected(state, host, ref);
  if (needed > available)
    throw new XapiFailure("HOST_NOT_ENOUGH_FREE_MEMORY", [
      String(needed),
      String(available),
    ]);
}

interface Booting {
  readonly vm: XapiRecord;
  readonly ref: string;
}

function assertSeesStorage(
  db: Database,
  { vm, ref }: Booting,
  host: string,
): void {
  const plugged = plugsOf(db, host);
  for (const vbd of refs(vm, "VBDs")) {
    const vdi = text(db.get("VBD", vbd), "VDI");
    if (vdi === NULL_REF) continue;
    const sr = text(db.get("VDI", vdi), "SR");
    if (!plugged.has(sr)) throw new XapiFailure("VM_REQUIRES_SR", [ref, sr]);
  }
}

/** The SRs that are connected to a host. */
export function plugsOf(db: Database, host: string): ReadonlySet<string> {
  return new Set(
    refs(db.get("host", host), "PBDs")
      .map((pbd) => db.get("PBD", pbd))
      .filter((pbd) => flag(pbd, "currently_attached"))
      .map((pbd) => text(pbd, "SR")),
  );
}

/** A network without PIFs is internal to each host: it is available on all. */
function assertSeesNetworks(
  db: Database,
  { vm, ref }: Booting,
  host: string,
): void {
  for (const vif of refs(vm, "VIFs")) {
    const network = text(db.get("VIF", vif), "network");
    const hosts = refs(db.get("network", network), "PIFs").map((pif) =>
      text(db.get("PIF", pif), "host"),
    );
    if (hosts.length > 0 && !hosts.includes(host))
      throw new XapiFailure("VM_REQUIRES_NETWORK", [ref, network]);
  }
}

/** Hosts that could run the VM now. */
export function possibleHosts(pool: PoolData, vm: string): readonly string[] {
  return [...pool.db.refs("host")].filter((host) => {
    try {
      assertCanBootHere(pool, vm, host);
      return true;
    } catch (error) {
      if (error instanceof XapiFailure) return false;
      throw error;
    }
  });
}

/** The host that XAPI would choose: the VM's affinity where possible, else the one with fewest of its group, then with most free memory. */
export function chooseHost(pool: PoolData, vm: string): string {
  const hosts = possibleHosts(pool, vm);
  const affinity = text(pool.db.get("VM", vm), "affinity");
  if (hosts.includes(affinity)) return affinity;
  const host = bestHost(pool, vm, hosts);
  if (host === undefined) throw new XapiFailure("NO_HOSTS_AVAILABLE");
  return host;
}
