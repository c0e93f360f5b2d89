import type { XapiRecord } from "../xapi-value.js";
import { text } from "./fields.js";

/** `xvda` for the device in place 0. */
export function deviceOf(vbd: XapiRecord): string {
  const place = Number(text(vbd, "userdevice"));
  return Number.isNaN(place) ? text(vbd, "userdevice") : deviceName(place);
}

/** `xvda` for place 0 on the bus. */
export function deviceName(place: number): string {
  return `xvd${String.fromCharCode(97 + (place % 26))}`;
}
