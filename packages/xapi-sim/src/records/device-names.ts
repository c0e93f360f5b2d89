import type { XapiRecord } from "../xapi-value.js";
import { text } from "./fields.js";

/** `xvda` for the device in place 0. */
export function deviceOf(vbd: XapiRecord): string {
  const position = Number(text(vbd, "userdevice"));
  return Number.isNaN(position)
    ? text(vbd, "userdevice")
    : deviceName(position);
}

/** `xvda` for position 0 on the bus. */
export function deviceName(position: number): string {
  return `xvd${String.fromCharCode(97 + (position % 26))}`;
}
