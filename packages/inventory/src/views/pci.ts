import type { View, ViewObject, ViewSource } from "./view.js";
import { toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** The shape of PCI devices that clients of Xen Orchestra know; property names are part of the API. */
export const pciView: View = {
  className: "PCI",
  types: ["PCI"],
  typeOf: () => "PCI",
  build,
  reads: {},
  searched: ["id", "class_name", "device_name", "pci_id"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    class_name: toText(record.class_name),
    device_name: toText(record.device_name),
    pci_id: toText(record.pci_id),
  };
  put(view, "$host", links.id("host", record.host));
  return view;
}
