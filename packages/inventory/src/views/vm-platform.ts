import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { toInteger, toNumber } from "./values/integer.js";
import { memberOf, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

const DEFAULT_VGA = "cirrus";
/** MiB. */
const DEFAULT_VIDEO_MEMORY = 4;

/** Adds the settings of the virtual hardware. */
export function putPlatform(view: ViewObject, record: XapiRecord): void {
  const { platform } = record;
  const mode = modeOf(record);
  view.virtualizationMode = mode;
  view.expNestedHvm = isOn(platform, "exp-nested-hvm");
  view.isNestedVirtEnabled = isOn(platform, "nested-virt");
  view.needsVtpm = isOn(platform, "vtpm");
  view.secureBoot = isOn(platform, "secureboot");
  view.viridian = isOn(platform, "viridian");
  put(view, "nicType", toNonEmptyText(memberOf(platform, "nic_type")));
  put(
    view,
    "coresPerSocket",
    toInteger(memberOf(platform, "cores-per-socket")),
  );
  if (mode === "hvm") putScreen(view, platform);
  else if (mode === "pv") view.PV_args = toText(record.PV_args);
}

/** Adds the CPU scheduling settings; each is absent unless set. */
export function putScheduling(view: ViewObject, record: XapiRecord): void {
  const params = record.VCPUs_params;
  put(view, "cpuCap", toNumber(memberOf(params, "cap")));
  put(view, "cpuWeight", toNumber(memberOf(params, "weight")));
  put(view, "cpuMask", toMask(memberOf(params, "mask")));
}

function putScreen(view: ViewObject, platform: unknown): void {
  view.vga = toNonEmptyText(memberOf(platform, "vga")) ?? DEFAULT_VGA;
  view.videoram =
    toInteger(memberOf(platform, "videoram")) ?? DEFAULT_VIDEO_MEMORY;
}

/** Pools before 7.5 have no domain_type: there a boot policy means HVM. */
function modeOf(record: XapiRecord): string {
  const mode = toNonEmptyText(record.domain_type);
  if (mode !== undefined && mode !== "unspecified") return mode;
  return record.HVM_boot_policy === "" ? "pv" : "hvm";
}

/** Platform flags are "true" or "1". */
function isOn(platform: unknown, name: string): boolean {
  const value = memberOf(platform, name);
  return value === "true" || value === "1";
}

/** Parses `0,2` to [0, 2]; undefined unless set. */
function toMask(mask: unknown): number[] | undefined {
  if (typeof mask !== "string" || mask === "") return undefined;
  return mask
    .split(",", 4096)
    .map((cpu) => toInteger(cpu.trim()))
    .filter((cpu) => cpu !== undefined);
}
