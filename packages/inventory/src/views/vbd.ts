import { fieldProperty } from "./field-property.js";
import type { View, ViewObject, ViewSource } from "./view.js";
import { toFlag, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** The shape of VBDs that clients of Xen Orchestra know; property names are part of the API. */
export const vbdView: View = {
  className: "VBD",
  types: ["VBD"],
  typeOf: () => "VBD",
  build,
  reads: {},
  properties: {
    attached: fieldProperty("currently_attached", toFlag),
    device: ({ record }) => toNonEmptyText(record.device) ?? null,
    is_cd_drive: ({ record }) => record.type === "CD",
    VM: ({ record, links }) => links.id("VM", record.VM),
    VDI: ({ record, links }) => links.id("VDI", record.VDI),
  },
  searched: ["id", "device"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    attached: toFlag(record.currently_attached),
    bootable: toFlag(record.bootable),
    device: toNonEmptyText(record.device) ?? null,
    is_cd_drive: record.type === "CD",
    position: toText(record.userdevice),
    read_only: record.mode === "RO",
  };
  put(view, "VM", links.id("VM", record.VM));
  put(view, "VDI", links.id("VDI", record.VDI));
  return view;
}
