import type { View, ViewObject, ViewSource } from "./view.js";
import { toMaskedMap } from "./values/maps.js";
import { toFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** A USB device of a host. */
export const pusbView: View = {
  className: "PUSB",
  types: ["PUSB"],
  typeOf: () => "PUSB",
  build: buildPusb,
  reads: {},
  searched: ["id", "description"],
};

/** A USB device passed through to a VM. */
export const vusbView: View = {
  className: "VUSB",
  types: ["VUSB"],
  typeOf: () => "VUSB",
  build: buildVusb,
  reads: {},
  searched: ["id"],
};

/** A group of equivalent USB devices. */
export const usbGroupView: View = {
  className: "USB_group",
  types: ["USB_group"],
  typeOf: () => "USB_group",
  build: buildUsbGroup,
  reads: {},
  searched: ["id", "name_label", "name_description"],
};

function buildPusb({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    description: toText(record.description),
    passthroughEnabled: toFlag(record.passthrough_enabled),
  };
  put(view, "host", links.id("host", record.host));
  put(view, "usbGroup", links.id("USB_group", record.USB_group));
  return view;
}

function buildVusb({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    currentlyAttached: toFlag(record.currently_attached),
  };
  put(view, "vm", links.id("VM", record.VM));
  put(view, "usbGroup", links.id("USB_group", record.USB_group));
  return view;
}

function buildUsbGroup({ record, links }: ViewSource): ViewObject {
  return {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    otherConfig: toMaskedMap(record.other_config),
    PUSB: links.ids("PUSB", record.PUSBs),
    VUSB: links.ids("VUSB", record.VUSBs),
  };
}
