import { RefreshCw, Usb } from "@lucide/vue";
import { ownAction } from "../own-action.js";

const host = { types: ["host"], isForOne: true, group: "work" } as const;

export const scanPifs = ownAction({
  ...host,
  id: "host.scanPifs",
  icon: RefreshCw,
  label: (text) => text.host.actions.scanPifs,
  operation: () => ({ method: "host.scanPifs" }),
});

export const scanUsb = ownAction({
  ...host,
  id: "pusb.scan",
  icon: Usb,
  label: (text) => text.host.actions.scanUsb,
  operation: () => ({ method: "pusb.scan", idParameter: "host" }),
});
