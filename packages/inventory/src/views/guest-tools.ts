import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { toInteger } from "./values/integer.js";
import { memberOf, toNonEmptyText } from "./values/plain.js";
import { put } from "./values/put.js";

/** What guest tools say of themselves. */
export interface ToolsVersion {
  readonly major: number;
  readonly minor: number;
  /** `7.30` is 7.3, as clients have always had it. */
  readonly version: number;
}

/** Version of the drivers in a running guest; false: it has none, or does not say. */
export function readToolsVersion(
  guest: XapiRecord | undefined,
): ToolsVersion | false {
  const drivers = guest?.PV_drivers_version;
  const major = toInteger(memberOf(drivers, "major"));
  const minor = toInteger(memberOf(drivers, "minor"));
  if (major === undefined || minor === undefined) return false;
  return { major, minor, version: Number(`${major}.${Math.abs(minor)}`) };
}

/** Fields of a running guest that has told something of itself. */
export function putTools(
  view: ViewObject,
  guest: XapiRecord,
  tools: ToolsVersion | false,
): void {
  const isKnown = tools !== false;
  const detected = guest.PV_drivers_detected;
  view.managementAgentDetected =
    isKnown || memberOf(guest.other, "feature-static-ip-setting") === "1";
  view.pvDriversDetected = typeof detected === "boolean" ? detected : isKnown;
  if (isKnown)
    view.pvDriversVersion = toDriversVersion(guest.PV_drivers_version);
  if (typeof guest.PV_drivers_up_to_date === "boolean")
    put(view, "pvDriversUpToDate", guest.PV_drivers_up_to_date);
}

/** `7.30.0-1`: as much of it as there is. */
function toDriversVersion(drivers: unknown): string {
  const micro = toNonEmptyText(memberOf(drivers, "micro"));
  const build = toNonEmptyText(memberOf(drivers, "build"));
  let version = `${toInteger(memberOf(drivers, "major"))}.${toInteger(memberOf(drivers, "minor"))}`;
  if (micro !== undefined) version += `.${micro}`;
  if (build !== undefined) version += `-${build}`;
  return version;
}
