import { deviceName } from "../fleet/guest-disks.js";
import type { XapiRecord } from "../xapi-value.js";
import { text } from "./fields.js";

/** `xvda` for the device in place 0. */
export function deviceOf(vbd: XapiRecord): string {
  const place = Number(text(vbd, "userdevice"));
  return Number.isNaN(place) ? text(vbd, "userdevice") : deviceName(place);
}
