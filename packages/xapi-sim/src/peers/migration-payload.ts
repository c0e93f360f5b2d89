import { NULL_REF } from "@xo-server/model";
import type { Database } from "../database.js";
import { contentsOf } from "../operations/vm/vtpms.js";
import type { PoolData } from "../pool-state.js";
import { refIn, refs, text } from "../records/fields.js";
import type { InitialDisk } from "../disks/initial-content.js";
import type { XapiRecord } from "../xapi-value.js";

/** An object on its way to another pool; `ref` is its reference at home. */
export interface SerializedObject {
  readonly className: string;
  readonly ref: string;
  readonly record: XapiRecord;
}

/** A VM with its snapshots, and what belongs to them. What was written to its disks follows. */
export interface MigrationPayload {
  readonly vm: string;
  readonly objects: readonly SerializedObject[];
  /** Initial contents, by uuid of the disk; others are empty before they are written to. */
  readonly initial: Readonly<Record<string, InitialDisk>>;
  /** Contents of VTPMs in base64, by their references at home. */
  readonly vtpms: Readonly<Record<string, string>>;
}

/**
 * A VM with its snapshots, disks and interfaces, for a migration to another pool. References are
 * those of this pool.
 */
export function serializeVm(pool: PoolData, vm: string): MigrationPayload {
  const { db } = pool;
  const { disks } = pool.state;
  const packer = new Packer(db);
  packer.vm(vm);
  const initial = packer.objects
    .filter(({ className }) => className === "VDI")
    .map(({ record }) => text(record, "uuid"))
    .map((uuid) => [uuid, disks.history(uuid).initial] as const)
    .filter(([, content]) => content !== undefined);
  const vtpms = packer.objects
    .filter(({ className }) => className === "VTPM")
    .map(({ ref }) => [ref, contentsOf(pool, ref)] as const);
  return {
    vm,
    objects: packer.objects,
    initial: Object.fromEntries(initial) as MigrationPayload["initial"],
    vtpms: Object.fromEntries(vtpms),
  };
}

/** Disks of the VM and of its snapshots, without what is in CD drives. */
export function disksOf(db: Database, vm: string): readonly string[] {
  const packer = new Packer(db);
  packer.vm(vm);
  return packer.objects.flatMap(({ className, ref }) =>
    className === "VDI" ? [ref] : [],
  );
}

class Packer {
  readonly objects: SerializedObject[] = [];
  readonly #db: Database;
  readonly #packed = new Set<string>();

  constructor(db: Database) {
    this.#db = db;
  }

  vm(ref: string): void {
    const record = this.#add("VM", ref);
    if (record === undefined) return;
    this.#add("VM_metrics", text(record, "metrics"));
    this.#add("VM_guest_metrics", text(record, "guest_metrics"));
    for (const vbd of refs(record, "VBDs")) this.#vbd(vbd);
    for (const vif of refs(record, "VIFs")) this.#add("VIF", vif);
    for (const vtpm of refs(record, "VTPMs")) this.#add("VTPM", vtpm);
    this.#add("VDI", text(record, "suspend_VDI"));
    for (const snapshot of refs(record, "snapshots")) this.vm(snapshot);
  }

  /** An image in a CD drive stays in its pool: the drive becomes empty. */
  #vbd(ref: string): void {
    const record = this.#add("VBD", ref);
    const vdi = record === undefined ? undefined : refIn(record, "VDI");
    if (vdi !== undefined && record!["type"] !== "CD") this.#add("VDI", vdi);
  }

  #add(className: string, ref: string): XapiRecord | undefined {
    if (ref === NULL_REF || this.#packed.has(ref)) return undefined;
    const record = this.#db.find(className, ref);
    if (record === undefined) return undefined;
    this.#packed.add(ref);
    this.objects.push({ className, ref, record });
    return record;
  }
}
