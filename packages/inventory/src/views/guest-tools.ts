import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { toInteger } from "./values/integer.js";
import { memberOf, toNonEmptyText } from "./values/plain.js";
import { put } from "./values/put.js";

/** Version of the guest tools. */
export interface ToolsVersion {
  readonly major: number;
  readonly minor: number;
  /** As a number for compatibility with clients: `7.30` becomes 7.3. */
  readonly version: number;
}

/** Driver version of a running guest; false when the guest reports none. */
export function readToolsVersion(
  guest: XapiRecord | undefined,
): ToolsVersion | false {
  const drivers = guest?.PV_drivers_version;
  const major = toInteger(memberOf(drivers, "major"));
  const minor = toInteger(memberOf(drivers, "minor"));
  if (major === undefined || minor === undefined) return false;
  return { major, minor, version: Number(`${major}.${Math.abs(minor)}`) };
}

/** Whether the guest runs the management agent of the guest tools. */
export function isAgentDetected(
  guest: XapiRecord,
  tools: ToolsVersion | false,
): boolean {
  return (
    tools !== false ||
    memberOf(guest.other, "feature-static-ip-setting") === "1"
  );
}

/** Adds the fields of a running guest that reports metrics. */
export function putTools(
  view: ViewObject,
  guest: XapiRecord,
  tools: ToolsVersion | false,
): void {
  const isKnown = tools !== false;
  const detected = guest.PV_drivers_detected;
  view.managementAgentDetected = isAgentDetected(guest, tools);
  view.pvDriversDetected = typeof detected === "boolean" ? detected : isKnown;
  if (isKnown)
    view.pvDriversVersion = toDriversVersion(guest.PV_drivers_version);
  if (typeof guest.PV_drivers_up_to_date === "boolean")
    put(view, "pvDriversUpToDate", guest.PV_drivers_up_to_date);
}

/** Version in the form `7.30.0-1`; missing parts are left out. */
function toDriversVersion(drivers: unknown): string {
  const micro = toNonEmptyText(memberOf(drivers, "micro"));
  const build = toNonEmptyText(memberOf(drivers, "build"));
  let version = `${toInteger(memberOf(drivers, "major"))}.${toInteger(memberOf(drivers, "minor"))}`;
  if (micro !== undefined) version += `.${micro}`;
  if (build !== undefined) version += `-${build}`;
  return version;
}
