import type { Ref } from "@xo-server/model";
import { XapiError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { SkippedDisk } from "../report/backup-log.js";
import {
  mapOf,
  read,
  readAll,
  refsOf,
  sizeOf,
  textOf,
  type XapiRecord,
} from "./xapi-objects.js";

/** Records as XAPI returns them, by reference; a restore creates the VM from them. */
interface VmRecords {
  readonly VM: XapiRecord;
  readonly VBDs: Readonly<Record<Ref, XapiRecord>>;
  readonly VDIs: Readonly<Record<Ref, XapiRecord>>;
  readonly VIFs: Readonly<Record<Ref, XapiRecord>>;
  /** Includes `contents`, a secret of the guest. */
  readonly VTPMs: Readonly<Record<Ref, XapiRecord>>;
  readonly networks: Readonly<Record<Ref, XapiRecord>>;
  readonly SRs: Readonly<Record<Ref, XapiRecord>>;
  readonly guest: XapiRecord;
}

/** A disk that is attached to a VM. */
export interface VmDisk {
  readonly vdi: Ref;
  readonly uuid: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly userdevice: string;
  readonly sr: Ref;
  readonly record: XapiRecord;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The parts of a VM that are backed up. */
export interface VmContents {
  readonly records: VmRecords;
  readonly disks: readonly VmDisk[];
  readonly skipped: readonly SkippedDisk[];
  /** References of disks that the snapshot leaves out. */
  readonly ignored: readonly Ref[];
}

/** Disks whose names contain this text are not backed up. */
const NO_BACKUP = "[NOBAK]";

/** @throws XapiError; the error of the VTPM's contents */
export async function readVm(xapi: Xapi, vm: Ref): Promise<VmContents> {
  const VM = await read(xapi, "VM", vm);
  const [VBDs, VIFs, VTPMs] = await Promise.all([
    readAll(xapi, "VBD", refsOf(VM, "VBDs")),
    readAll(xapi, "VIF", refsOf(VM, "VIFs")),
    readVtpms(xapi, refsOf(VM, "VTPMs")),
  ]);
  const vdiRefs = [...VBDs.values()]
    .filter((vbd) => vbd["type"] !== "CD")
    .map((vbd) => textOf(vbd, "VDI"));
  const VDIs = await readAll(xapi, "VDI", vdiRefs);
  const networks = await readAll(
    xapi,
    "network",
    Array.from(VIFs.values(), (vif) => textOf(vif, "network")),
  );
  const SRs = await readAll(
    xapi,
    "SR",
    Array.from(VDIs.values(), (vdi) => textOf(vdi, "SR")),
  );
  return {
    records: {
      VM,
      VBDs: Object.fromEntries(VBDs),
      VDIs: Object.fromEntries(VDIs),
      VIFs: Object.fromEntries(VIFs),
      VTPMs,
      networks: picked(networks, "uuid", "name_label"),
      SRs: picked(SRs, "uuid", "name_label", "type", "shared"),
      guest: await readGuest(xapi, VM),
    },
    ...toDisks(VBDs, VDIs, SRs),
  };
}

function toDisks(
  VBDs: ReadonlyMap<Ref, XapiRecord>,
  VDIs: ReadonlyMap<Ref, XapiRecord>,
  SRs: ReadonlyMap<Ref, XapiRecord>,
): Omit<VmContents, "records"> {
  const disks = new Map<Ref, VmDisk>();
  const skipped: SkippedDisk[] = [];
  const ignored: Ref[] = [];
  for (const vbd of VBDs.values()) {
    const ref = textOf(vbd, "VDI");
    const vdi = VDIs.get(ref);
    if (vdi === undefined || disks.has(ref)) continue;
    const disk = toDisk(ref, vdi, vbd, SRs.get(textOf(vdi, "SR")));
    const reason = reasonToSkip(vdi, vbd);
    if (reason === undefined) disks.set(ref, disk);
    else {
      ignored.push(ref);
      const { uuid, name, userdevice } = disk;
      skipped.push({ vdi: uuid, name_label: name, userdevice, reason });
    }
  }
  return { disks: [...disks.values()], skipped, ignored };
}

function reasonToSkip(vdi: XapiRecord, vbd: XapiRecord): string | undefined {
  if (textOf(vdi, "name_label").includes(NO_BACKUP))
    return `its name contains ${NO_BACKUP}`;
  if (vdi["missing"] === true) return "its data is missing on the SR";
  if (vbd["mode"] === "RO" && vdi["read_only"] === true)
    return "it is read-only";
  return undefined;
}

function toDisk(
  ref: Ref,
  vdi: XapiRecord,
  vbd: XapiRecord,
  sr: XapiRecord | undefined,
): VmDisk {
  const uuid = textOf(vdi, "uuid");
  const userdevice = textOf(vbd, "userdevice");
  return {
    vdi: ref,
    uuid,
    name: textOf(vdi, "name_label"),
    size: sizeOf(vdi, "virtual_size"),
    userdevice,
    sr: textOf(vdi, "SR"),
    record: vdi,
    properties: {
      vdi: uuid,
      name_label: textOf(vdi, "name_label"),
      userdevice,
      bootable: vbd["bootable"] === true,
      mode: textOf(vbd, "mode"),
      type: textOf(vdi, "type"),
      sr: textOf(sr, "uuid"),
    },
  };
}

async function readVtpms(
  xapi: Xapi,
  refs: readonly Ref[],
): Promise<Record<Ref, XapiRecord>> {
  const records = await readAll(xapi, "VTPM", refs);
  const all: Record<Ref, XapiRecord> = {};
  for (const [ref, record] of records) {
    const contents = (await xapi.call("VTPM.get_contents", [ref])) as string;
    all[ref] = { ...record, contents };
  }
  return all;
}

/** Reads properties of the guest system; empty without guest tools. */
async function readGuest(xapi: Xapi, vm: XapiRecord): Promise<XapiRecord> {
  const ref = textOf(vm, "guest_metrics");
  if (ref === "" || ref === "OpaqueRef:NULL") return {};
  try {
    const record = await read(xapi, "VM_guest_metrics", ref);
    return {
      os_version: mapOf(record, "os_version"),
      networks: mapOf(record, "networks"),
    };
  } catch (error) {
    // The guest was shut down in the meantime.
    if (error instanceof XapiError) return {};
    throw error;
  }
}

function picked(
  records: ReadonlyMap<Ref, XapiRecord>,
  ...keys: readonly string[]
): Record<Ref, XapiRecord> {
  return Object.fromEntries(
    Array.from(records, ([ref, record]) => [
      ref,
      Object.fromEntries(keys.map((key) => [key, record[key]])),
    ]),
  );
}
