import { NULL_REF } from "@xo-server/model";
import type { CallContext } from "../operation.js";
import { flag, int, map, refs, text } from "../records/fields.js";
import { linked } from "../operations/storage/disk-chains.js";
import { refreshVdi, refreshVm } from "../operations/effects/refresh.js";
import { removeVtpm, setContents } from "../operations/vm/vtpms.js";
import { removeVdi } from "../operations/storage/vdi.js";
import { addAllocation, takeSpace } from "../operations/storage/sr-space.js";
import { randomMac } from "../operations/network/vif.js";
import {
  assertEnoughMemory,
  assertHostRuns,
  plugsOf,
} from "../operations/vm/vm-checks.js";
import { buildDomain } from "../operations/vm/vm-domain.js";
import { mapRefs } from "../transfer/ova.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import type {
  MigrationPayload,
  SerializedObject,
} from "./migration-payload.js";

/** A VM that another pool offers for migration. */
export interface ReceiveOrder {
  readonly host: string;
  readonly live: boolean;
  /** It is another VM, with a uuid and MAC addresses of its own. */
  readonly copy: boolean;
  /** References of disks and interfaces at home to those of SRs and networks here. */
  readonly srs: Readonly<Record<string, string>>;
  readonly networks: Readonly<Record<string, string>>;
  readonly payload: MigrationPayload;
}

/** Bytes on their way from a disk of the other pool. */
export interface MigrationBlock {
  /** Reference at home. */
  readonly disk: string;
  readonly offset: number;
  /** In base64. */
  readonly bytes: string;
}

/**
 * Takes in a VM of another pool: first its disks, then, when all has come over, the
 * VM. Until then `abandon` leaves nothing behind.
 */
export class MigrationReceiver {
  readonly #context: CallContext;
  readonly #order: ReceiveOrder;
  readonly #refs = new Map<string, string>();
  #created: { className: string; ref: string }[] = [];
  #disks: string[] = [];

  /**
   * @throws XapiFailure for what prevents the VM from arriving; nothing is left
   *   then
   */
  constructor(context: CallContext, order: ReceiveOrder) {
    this.#context = context;
    this.#order = order;
    this.#assertPossible();
    try {
      for (const object of order.payload.objects)
        if (object.className === "VDI") this.#receiveDisk(object);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Receives data of a disk of the source pool. */
  write({ disk, offset, bytes }: MigrationBlock): void {
    const ref = this.#refs.get(disk);
    if (ref === undefined) throw new XapiFailure("VDI_NOT_IN_MAP", [disk]);
    const uuid = text(this.#context.db.get("VDI", ref), "uuid");
    const { disks } = this.#context.state;
    disks.write(uuid, offset, Buffer.from(bytes, "base64"));
    // The record that came along includes it.
    disks.takeGrowth(uuid);
  }

  /** @returns the VM's reference here. @throws XapiFailure; nothing is left then */
  finish(): string {
    const { db } = this.#context;
    const { payload, live, host } = this.#order;
    try {
      for (const { className, ref } of payload.objects)
        if (className !== "VDI") this.#refs.set(ref, db.newRef());
      for (const object of payload.objects)
        if (object.className !== "VDI") this.#create(object);
      const vm = this.#refs.get(payload.vm)!;
      if (live) this.#run(vm, host);
      for (const { className, ref } of this.#created)
        if (className === "VM") refreshVm(db, ref);
      return vm;
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  abandon(): void {
    const { db } = this.#context;
    for (const { className, ref } of this.#created.reverse())
      if (db.find(className, ref) === undefined) continue;
      else if (className === "VTPM") removeVtpm(this.#context, ref);
      else db.destroy(className, ref);
    for (const ref of this.#disks)
      if (db.find("VDI", ref) !== undefined)
        removeVdi(this.#context, ref, { freesSpace: true });
    this.#created = [];
    this.#disks = [];
  }

  #assertPossible(): void {
    const { db } = this.#context;
    const { host, payload, live, copy } = this.#order;
    assertHostRuns(db, host);
    const vm = payload.objects.find(({ ref }) => ref === payload.vm)!.record;
    const same = db.byUuid("VM", text(vm, "uuid"));
    if (same !== undefined && !copy)
      throw new XapiFailure("DUPLICATE_VM", [same, payload.vm]);
    const plugged = plugsOf(db, host);
    for (const { className, ref, record } of payload.objects) {
      if (className === "VDI" && !plugged.has(this.#srFor(ref)))
        throw new XapiFailure("VM_REQUIRES_SR", [payload.vm, this.#srFor(ref)]);
      if (className === "VIF" && text(record, "VM") === payload.vm)
        this.#assertNetwork(ref);
    }
    if (live) assertEnoughMemory(this.#context, { vm, ref: payload.vm }, host);
  }

  /**
   * Returns the target SR: from the map, else the default SR of the pool [xapi_vm_migrate.ml,
   * from memory].
   */
  #srFor(vdi: string): string {
    const { db, pool } = this.#context;
    const { srs } = this.#order;
    const mapped = Object.hasOwn(srs, vdi)
      ? srs[vdi]!
      : text(db.get("pool", pool.poolRef), "default_SR");
    if (db.find("SR", mapped) !== undefined) return mapped;
    if (Object.hasOwn(srs, vdi))
      throw new XapiFailure("HANDLE_INVALID", ["SR", mapped]);
    throw new XapiFailure("VDI_NOT_IN_MAP", [vdi]);
  }

  #assertNetwork(vif: string): void {
    const { db } = this.#context;
    const { networks, host, payload } = this.#order;
    const network = Object.hasOwn(networks, vif) ? networks[vif] : undefined;
    if (network === undefined) throw new XapiFailure("VIF_NOT_IN_MAP", [vif]);
    const hosts = refs(db.get("network", network), "PIFs").map((pif) =>
      text(db.get("PIF", pif), "host"),
    );
    if (hosts.length > 0 && !hosts.includes(host))
      throw new XapiFailure("VM_REQUIRES_NETWORK", [payload.vm, network]);
  }

  #receiveDisk({ ref, record }: SerializedObject): void {
    const { db, random } = this.#context;
    const { initial } = this.#order.payload;
    const SR = this.#srFor(ref);
    takeSpace(this.#context, SR, int(record, "physical_utilisation"));
    addAllocation(this.#context, SR, int(record, "virtual_size"));
    const uuid = random.uuid();
    const disk = db.create("VDI", {
      ...mapRefs("VDI", record, () => NULL_REF),
      uuid,
      location: uuid,
      sm_config: linked(map(record, "sm_config"), ""),
      SR,
      current_operations: {},
      managed: true,
    });
    const origin = text(record, "uuid");
    this.#context.state.disks.create(
      uuid,
      int(record, "virtual_size"),
      Object.hasOwn(initial, origin) ? initial[origin] : undefined,
    );
    refreshVdi(db, disk);
    this.#refs.set(ref, disk);
    this.#disks.push(disk);
  }

  #create(object: SerializedObject): void {
    const { className, ref } = object;
    const here = this.#refs.get(ref)!;
    const mapped = mapRefs(
      className,
      object.record,
      (other) => this.#refs.get(other) ?? NULL_REF,
    );
    this.#context.db.create(className, this.#adjusted(object, mapped), here);
    this.#created.push({ className, ref: here });
    const contents = this.#order.payload.vtpms[ref];
    if (className === "VTPM" && contents !== undefined)
      setContents(this.#context, here, contents);
  }

  /** Returns the fields that differ from those in the source pool. */
  #adjusted({ className, ref, record }: SerializedObject, mapped: XapiRecord) {
    const { copy, networks, payload } = this.#order;
    const { uuid, ...rest } = mapped;
    const idle = { ...rest, allowed_operations: [], current_operations: {} };
    switch (className) {
      case "VM":
        return {
          ...idle,
          ...(copy ? {} : { uuid: uuid! }),
          // A snapshot with memory includes it.
          ...(ref === payload.vm ? { power_state: "Halted" } : {}),
          blobs: {},
          domid: -1,
        };
      case "VIF":
        return {
          ...idle,
          currently_attached: false,
          network: this.#networkFor(ref, record, networks),
          ...(copy ? { MAC: randomMac(this.#context) } : {}),
        };
      case "VBD":
        return {
          ...idle,
          currently_attached: false,
          device: "",
          empty: mapped["VDI"] === NULL_REF,
        };
      case "VTPM":
        return { ...idle, allowed_operations: ["destroy"] };
      default:
        return rest;
    }
  }

  /** Interfaces of snapshots are where those of the VM with the same number are. */
  #networkFor(
    vif: string,
    record: XapiRecord,
    networks: ReceiveOrder["networks"],
  ): string {
    if (Object.hasOwn(networks, vif)) return networks[vif]!;
    const { payload } = this.#order;
    const same = payload.objects.find(
      ({ className, ref, record: other }) =>
        className === "VIF" &&
        Object.hasOwn(networks, ref) &&
        other["device"] === record["device"],
    );
    const [first] = this.#context.db.refs("network");
    return same === undefined ? (first ?? NULL_REF) : networks[same.ref]!;
  }

  #run(vm: string, host: string): void {
    const { db } = this.#context;
    assertHostRuns(db, host);
    assertEnoughMemory(this.#context, { vm: db.get("VM", vm), ref: vm }, host);
    buildDomain(this.#context, vm, host);
    this.#created.push(
      ...refs(db.get("VM", vm), "consoles").map((ref) => ({
        className: "console",
        ref,
      })),
    );
    db.update("VM", vm, { power_state: "Running" });
    const metrics = text(db.get("VM", vm), "guest_metrics");
    const report = db.find("VM_guest_metrics", metrics);
    if (report !== undefined && !flag(report, "live"))
      db.update("VM_guest_metrics", metrics, { live: true });
  }
}
