import { NULL_REF } from "@xo-server/model";
import type { HandlerContext } from "../http-handler.js";
import { flag, int, map, text, without } from "../records/fields.js";
import { badPowerState } from "../operations/effects/failures.js";
import { linked } from "../operations/storage/disk-chains.js";
import { destroyVm } from "../operations/vm/vm-destroy.js";
import { refreshVbd, refreshVm } from "../operations/effects/refresh.js";
import { isThick } from "../operations/storage/sr-checks.js";
import { addAllocation, takeSpace } from "../operations/storage/sr-space.js";
import { removeVtpm, setContents } from "../operations/vm/vtpms.js";
import { removeVdi } from "../operations/storage/vdi.js";
import { randomMac } from "../operations/network/vif.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { MiB } from "./disk-blocks.js";
import { mapRefs, readOva, type OvaObject } from "./ova.js";
import type { TarFile } from "./tar.js";
import { checksumOf, readChecksumName } from "./xva-checksums.js";

interface ImportTarget {
  /** Disks are made on an SR; or (metadata) they exist, named by uuids unless the map says otherwise. */
  readonly disks:
    | { readonly sr: string }
    | { readonly existing: ReadonlyMap<string, string> };
  /** The VM retains its uuid and MAC addresses. */
  readonly restore: boolean;
  /** Blocks with wrong checksums are taken; disks may be missing, VMs with the same uuid are replaced. */
  readonly force: boolean;
}

const made = new Set([
  "VM",
  "VM_metrics",
  "VM_guest_metrics",
  "VBD",
  "VDI",
  "VIF",
  "VTPM",
]);

/**
 * An archive as it arrives: VMs and empty disks exist as soon as ova.xml is read, and the disks
 * fill up. Until `finish`, `undo` removes everything.
 */
export class XvaImport {
  readonly #context: HandlerContext;
  readonly #target: ImportTarget;
  readonly #refs = new Map<string, string>();
  #objects: readonly OvaObject[] = [];
  #created: { className: string; ref: string }[] = [];
  /** The block whose checksum comes next. */
  #last: TarFile | undefined;
  #damaged = 0;

  constructor(context: HandlerContext, target: ImportTarget) {
    this.#context = context;
    this.#target = target;
  }

  /** @throws XapiFailure */
  take(file: TarFile): void {
    const { name, content } = file;
    if (content === undefined) return;
    const checksum = readChecksumName(name);
    if (checksum !== undefined) {
      const { block, kind } = checksum;
      const of = this.#last?.name === block ? this.#last.content : undefined;
      if (of !== undefined && checksumOf(kind, of) !== content.toString())
        this.#damaged++;
      return;
    }
    this.#last = file;
    if (name === "ova.xml") this.#begin(readOva(content.toString()));
    const [, id, index] = /^(Ref:\d+)\/(\d+)$/.exec(name) ?? [];
    if (id !== undefined) this.#write(id, Number(index), content);
  }

  /** @returns the VMs. @throws XapiFailure where there was no ova.xml */
  finish(): readonly string[] {
    const { db, task } = this.#context;
    if (this.#objects.length === 0)
      throw new XapiFailure("IMPORT_ERROR_PREMATURE_EOF");
    if (this.#damaged > 0 && !this.#target.force)
      throw new XapiFailure("IMPORT_ERROR_SOME_CHECKSUMS_FAILED");
    const vms = this.#created.filter(({ className }) => className === "VM");
    for (const { ref } of vms) {
      const record = db.get("VM", ref);
      db.update("VM", ref, {
        current_operations: without(
          map(record, "current_operations"),
          task.ref,
        ),
        other_config: without(map(record, "other_config"), "import_task"),
      });
      refreshVm(db, ref);
    }
    for (const { className, ref } of this.#created)
      if (className === "VBD") refreshVbd(db, ref);
    return vms
      .map(({ ref }) => ref)
      .filter((ref) => !flag(db.get("VM", ref), "is_a_snapshot"));
  }

  undo(): void {
    const { db } = this.#context;
    for (const { className, ref } of this.#created.reverse())
      if (className === "VDI") {
        if (db.find("VDI", ref) !== undefined)
          removeVdi(this.#context, ref, { freesSpace: true });
      } else if (db.find(className, ref) === undefined) continue;
      else if (className === "VTPM") removeVtpm(this.#context, ref);
      else db.destroy(className, ref);
    this.#created = [];
  }

  #begin(objects: readonly OvaObject[]): void {
    const { db } = this.#context;
    this.#objects = objects;
    for (const { className, record } of objects)
      if (className === "VM") this.#makeRoom(record);
    const images = imagesOf(objects);
    const isFound = ({ className, id }: OvaObject) =>
      images.has(id) || (className === "VDI" && !("sr" in this.#target.disks));
    for (const { id, className, record } of objects)
      if (className === "network")
        this.#refs.set(id, networkFor(this.#context, record));
      else if (className === "VDI" && isFound({ id, className, record }))
        this.#refs.set(id, this.#find(record, images.has(id)));
    const requested = objects.filter(
      (object) =>
        made.has(object.className) &&
        !isFound(object) &&
        this.#isWanted(object),
    );
    for (const { id } of requested) this.#refs.set(id, db.newRef());
    for (const object of requested) this.#create(object);
  }

  /** A VM that is restored takes the place of the one with its uuid. @throws XapiFailure */
  #makeRoom(record: XapiRecord): void {
    const { db } = this.#context;
    const { restore, force } = this.#target;
    const same = restore ? db.byUuid("VM", text(record, "uuid")) : undefined;
    if (same === undefined) return;
    if (!force) throw new XapiFailure("DUPLICATE_VM", [same]);
    const state = text(db.get("VM", same), "power_state");
    if (state !== "Halted") throw badPowerState(same, ["Halted"], state);
    destroyVm(this.#context, same);
  }

  /**
   * A disk that is here already.
   * @throws XapiFailure IMPORT_ERROR_ATTACHED_DISKS_NOT_FOUND, unless it is an image in a CD drive
   */
  #find(record: XapiRecord, isImage: boolean): string {
    const { db } = this.#context;
    const { disks, force } = this.#target;
    const uuid = text(record, "uuid");
    const named = "existing" in disks ? disks.existing.get(uuid) : undefined;
    const requested = named ?? uuid;
    const found =
      db.find("VDI", requested) === undefined
        ? db.byUuid("VDI", requested)
        : requested;
    if (found === undefined && !isImage && !force)
      throw new XapiFailure("IMPORT_ERROR_ATTACHED_DISKS_NOT_FOUND");
    return found ?? NULL_REF;
  }

  /** Devices of disks that are missing are left out. */
  #isWanted({ className, record }: OvaObject): boolean {
    if (className !== "VBD" || text(record, "type") === "CD") return true;
    const vdi = text(record, "VDI");
    return vdi === NULL_REF || this.#refs.get(vdi) !== NULL_REF;
  }

  /** Of an import with disks. */
  get #sr(): string {
    const { disks } = this.#target;
    return "sr" in disks ? disks.sr : NULL_REF;
  }

  #create(object: OvaObject): void {
    const { className, id } = object;
    const ref = this.#refs.get(id)!;
    const record = mapRefs(
      className,
      object.record,
      (other) => this.#refs.get(other) ?? NULL_REF,
    );
    const adjusted = this.#adjusted(className, record);
    if (className === "VDI") {
      const sr = this.#sr;
      takeSpace(this.#context, sr, int(adjusted, "physical_utilisation"));
      addAllocation(this.#context, sr, int(adjusted, "virtual_size"));
      this.#context.state.disks.create(
        text(adjusted, "uuid"),
        int(adjusted, "virtual_size"),
      );
    }
    this.#context.db.create(className, adjusted, ref);
    this.#created.push({ className, ref });
    if (object.contents !== undefined)
      setContents(this.#context, ref, object.contents);
  }

  /** Returns the fields of an imported object that differ from the exported one. */
  #adjusted(className: string, record: XapiRecord): XapiRecord {
    const { restore } = this.#target;
    const sr = this.#sr;
    const { uuid, ...rest } = record;
    const { task, random, db } = this.#context;
    switch (className) {
      case "VM":
        return {
          ...rest,
          ...(restore && uuid !== undefined ? { uuid } : {}),
          other_config: {
            ...map(record, "other_config"),
            import_task: task.ref,
          },
          // Of a snapshot alone a VM is made.
          ...(record["snapshot_of"] === NULL_REF
            ? { is_a_snapshot: false, snapshot_info: {} }
            : {}),
          power_state: "Halted",
          resident_on: NULL_REF,
          domid: -1,
          current_operations: { [task.ref]: "import" },
          allowed_operations: [],
          consoles: [],
        };
      case "VDI": {
        const own = random.uuid();
        return {
          ...rest,
          uuid: own,
          location: own,
          sm_config: linked(map(record, "sm_config"), ""),
          SR: sr,
          managed: true,
          // A full copy: it is not a snapshot.
          is_a_snapshot: false,
          snapshot_of: NULL_REF,
          VBDs: [],
          snapshots: [],
          current_operations: {},
          ...(isThick(db, sr)
            ? { physical_utilisation: int(record, "virtual_size") }
            : {}),
        };
      }
      case "VTPM":
        return {
          ...rest,
          allowed_operations: ["destroy"],
          current_operations: {},
        };
      case "VBD":
        return {
          ...rest,
          currently_attached: false,
          current_operations: {},
          empty: record["VDI"] === NULL_REF,
        };
      case "VIF":
        return {
          ...rest,
          currently_attached: false,
          current_operations: {},
          ...(restore ? {} : { MAC: randomMac(this.#context) }),
        };
      default:
        return rest;
    }
  }

  /** Writes data to a disk. Its space on the SR is in its record already. */
  #write(id: string, index: number, content: Buffer): void {
    const ref = this.#refs.get(id);
    const { db } = this.#context;
    const vdi = ref === undefined ? undefined : db.find("VDI", ref);
    if (vdi === undefined) return;
    const { disks } = this.#context.state;
    const uuid = text(vdi, "uuid");
    disks.write(uuid, index * MiB, content);
    disks.takeGrowth(uuid);
  }
}

/** Ids of images in CD drives: they are named, and not carried along. */
function imagesOf(objects: readonly OvaObject[]): ReadonlySet<string> {
  const drives = objects.filter(({ className }) => className === "VBD");
  return new Set(
    drives
      .filter(({ record }) => record["type"] === "CD" && !flag(record, "empty"))
      .map(({ record }) => text(record, "VDI")),
  );
}

function networkFor({ db }: HandlerContext, network: XapiRecord): string {
  const same = db.byUuid("network", text(network, "uuid"));
  if (same !== undefined) return same;
  for (const [ref, record] of db.records("network"))
    if (record["name_label"] === network["name_label"]) return ref;
  const [first] = db.refs("network");
  return first ?? NULL_REF;
}
