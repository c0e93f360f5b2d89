import { NULL_REF } from "@xo-server/model";
import type { Database } from "../database.js";
import { flag, refs, text } from "../records/fields.js";
import { ownVms } from "./join-checks.js";
import type { SerializedObject } from "./migration-payload.js";

/** A host with what is only its own: hardware, interfaces, local SRs with their disks, VMs. Networks go by their bridges. */
export interface HostPayload {
  readonly host: string;
  readonly objects: readonly SerializedObject[];
  /** Bridges of networks by their reference at home, and the networks themselves. */
  readonly networks: readonly SerializedObject[];
}

/** What the coordinator of another pool gets of a joining host: its records and those that they refer to. */
export function serializeHost(db: Database): HostPayload {
  const [host] = [...db.refs("host")] as [string];
  const packed = new Map<string, SerializedObject>();
  const add = (className: string, ref: string): void => {
    const record = ref === NULL_REF ? undefined : db.find(className, ref);
    if (record !== undefined) packed.set(ref, { className, ref, record });
  };
  const record = db.get("host", host);
  add("host", host);
  add("host_metrics", text(record, "metrics"));
  for (const [className, field] of hardware)
    for (const ref of refs(record, field)) add(className, ref);
  for (const pif of refs(record, "PIFs"))
    add("PIF_metrics", text(db.get("PIF", pif), "metrics"));
  addStorage(db, host, add);
  for (const vm of [text(record, "control_domain"), ...ownVms(db)])
    addVm(db, vm, add);
  return {
    host,
    objects: [...packed.values()],
    networks: [...db.records("network")].map(([ref, network]) => ({
      className: "network",
      ref,
      record: network,
    })),
  };
}

type Add = (className: string, ref: string) => void;

/** GPUs and USB devices are found again by the new pool's scan. */
const hardware = [
  ["host_cpu", "host_CPUs"],
  ["PCI", "PCIs"],
  ["Certificate", "certificates"],
  ["Feature", "features"],
  ["PIF", "PIFs"],
] as const;

function addStorage(db: Database, host: string, add: Add): void {
  for (const pbd of refs(db.get("host", host), "PBDs")) {
    const sr = text(db.get("PBD", pbd), "SR");
    if (flag(db.get("SR", sr), "shared")) continue;
    add("PBD", pbd);
    add("SR", sr);
    for (const vdi of refs(db.get("SR", sr), "VDIs")) add("VDI", vdi);
  }
}

function addVm(db: Database, ref: string, add: Add): void {
  const vm = db.find("VM", ref);
  if (vm === undefined) return;
  add("VM", ref);
  add("VM_metrics", text(vm, "metrics"));
  add("VM_guest_metrics", text(vm, "guest_metrics"));
  for (const [className, field] of devices)
    for (const device of refs(vm, field)) add(className, device);
}

const devices = [
  ["VBD", "VBDs"],
  ["VIF", "VIFs"],
  ["VTPM", "VTPMs"],
  ["console", "consoles"],
] as const;
