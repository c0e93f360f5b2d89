import type { Database } from "../../database.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap } from "../../xapi-value.js";
import { flag, int, map, refs, text, textIn } from "../../records/fields.js";

const MiB = 2 ** 20;
/** Block size of VHD files and largest size of a disk [SM's vhdutil.py, from memory]. */
const BLOCK = 2 * MiB;
const LARGEST = 2_088_960 * MiB;

/** Drivers that can host a statefile [SM's features, from memory]. */
export const statefileTypes = new Set(["nfs", "lvmoiscsi", "lvmohba", "gfs2"]);

/** An error of a storage driver, as XAPI hands it on. */
export function backendFailure(code: number, reason: string): XapiFailure {
  return new XapiFailure(`SR_BACKEND_FAILURE_${code}`, ["", reason, ""]);
}

/** The size of a disk for which `bytes` are requested. @throws XapiFailure */
export function diskSize(bytes: number): number {
  if (!(bytes >= 1) || bytes > LARGEST)
    throw backendFailure(
      79,
      "VDI Invalid size [opterr=VDI size must be between 1 MB and 2088960 MB]",
    );
  return Math.ceil(bytes / BLOCK) * BLOCK;
}

/** Block storage allocates the whole disk immediately. */
export function isThick(db: Database, sr: string): boolean {
  const record = db.get("SR", sr);
  return (
    map(record, "sm_config")["allocation"] === "thick" ||
    text(record, "type").startsWith("lvm")
  );
}

/** @throws XapiFailure if the SR cannot contain disks */
export function assertHoldsDisks(db: Database, sr: string): void {
  const record = db.get("SR", sr);
  if (flag(record, "is_tools_sr") || text(record, "type") === "udev")
    throw new XapiFailure("SR_OPERATION_NOT_SUPPORTED", [sr]);
  assertPlugged(db, sr);
}

/** @throws XapiFailure SR_HAS_NO_PBDS: no host is connected to the SR */
export function assertPlugged(db: Database, sr: string): void {
  const plugged = refs(db.get("SR", sr), "PBDs").some((pbd) =>
    flag(db.get("PBD", pbd), "currently_attached"),
  );
  if (!plugged) throw new XapiFailure("SR_HAS_NO_PBDS", [sr]);
}

/** Checks that an SR can be removed: no PBD is plugged, and removal is allowed [xapi_sr.ml, from memory]. */
export function assertDeletable(db: Database, sr: string): void {
  const record = db.get("SR", sr);
  const plugged = refs(record, "PBDs").some((pbd) =>
    flag(db.get("PBD", pbd), "currently_attached"),
  );
  if (plugged) throw new XapiFailure("SR_HAS_PBD", [sr]);
  if (textIn(map(record, "other_config"), "indestructible") === "true")
    throw new XapiFailure("SR_INDESTRUCTIBLE", [sr]);
}

/** Required device-config of drivers; codes and texts of SM's XE_SR_ERRORCODES.xml, from memory. */
const requested: Readonly<
  Record<string, readonly (readonly [string, number, string])[]>
> = {
  nfs: [
    ["server", 90, "The server is missing"],
    ["serverpath", 101, "The request is missing the serverpath parameter"],
  ],
  lvmoiscsi: [
    ["target", 90, "The target is missing"],
    [
      "targetIQN",
      96,
      "The request is missing or has an incorrect target IQN parameter",
    ],
    ["SCSIid", 107, "The SCSIid parameter is missing or incorrect"],
  ],
  ext: [["device", 90, "The request is missing the device parameter"]],
  lvm: [["device", 90, "The request is missing the device parameter"]],
};

/** @throws XapiFailure of the driver: a part of the device is missing, or it is in use */
export function assertDevice(
  db: Database,
  host: string,
  { type, device }: { readonly type: string; readonly device: XapiMap },
): void {
  for (const [name, code, reason] of requested[type] ?? [])
    if (textIn(device, name) === "") throw backendFailure(code, reason);
  if (type !== "ext" && type !== "lvm") return;
  const used = refs(db.get("host", host), "PBDs").some(
    (pbd) =>
      textIn(map(db.get("PBD", pbd), "device_config"), "device") ===
      device["device"],
  );
  if (used) throw backendFailure(77, "Logical Volume group creation failed");
}

/** The object does nothing else. @throws XapiFailure OTHER_OPERATION_IN_PROGRESS */
export function assertIdle(
  db: Database,
  className: "SR" | "VDI" | "VBD" | "VIF" | "host",
  ref: string,
): void {
  const [running] = Object.entries(
    map(db.get(className, ref), "current_operations"),
  );
  if (running !== undefined)
    throw new XapiFailure("OTHER_OPERATION_IN_PROGRESS", [
      className,
      ref,
      running[1] as string,
      running[0],
    ]);
}

/** Bytes that a disk takes of its SR when it is new and empty. */
export function takenByNew(db: Database, sr: string, size: number): number {
  return isThick(db, sr) ? size : Math.min(size, 8 * MiB);
}

/** Whether HA has a statefile there. */
export function hasStatefile(db: Database, sr: string): boolean {
  return refs(db.get("SR", sr), "VDIs").some(
    (vdi) => text(db.get("VDI", vdi), "type") === "ha_statefile",
  );
}

/** Bytes by which a disk's part of its SR grows. */
export function growth(db: Database, vdi: string, size: number): number {
  const record = db.get("VDI", vdi);
  return isThick(db, text(record, "SR"))
    ? size - int(record, "virtual_size")
    : 0;
}

/** SR.assert_can_host_ha_statefile. */
export function assertCanHostStatefile(db: Database, sr: string): void {
  const record = db.get("SR", sr);
  if (!flag(record, "shared"))
    throw new XapiFailure("HA_CONSTRAINT_VIOLATION_SR_NOT_SHARED", [sr]);
  if (!statefileTypes.has(text(record, "type")))
    throw new XapiFailure("SR_OPERATION_NOT_SUPPORTED", [sr]);
}
