import { bondView } from "./bond.js";
import { gpuGroupView, pgpuView, vgpuTypeView, vgpuView } from "./gpu.js";
import { hostView } from "./host.js";
import { messageView } from "./message.js";
import { networkView } from "./network.js";
import { hostPatchView, poolPatchView } from "./patch.js";
import { pbdView } from "./pbd.js";
import { pciView } from "./pci.js";
import { pifView } from "./pif.js";
import { poolView } from "./pool.js";
import { smView } from "./sm.js";
import { srView } from "./sr.js";
import { taskView } from "./task.js";
import { pusbView, usbGroupView, vusbView } from "./usb.js";
import { vbdView } from "./vbd.js";
import { vdiView } from "./vdi.js";
import type { View } from "./view.js";
import { vifView } from "./vif.js";
import { vmView } from "./vm.js";
import { vtpmView } from "./vtpm.js";

/**
 * All views. Classes without a view are visible only through views of other
 * classes.
 */
export const views: readonly View[] = [
  poolView,
  hostView,
  vmView,
  srView,
  vdiView,
  vbdView,
  vifView,
  pifView,
  pbdView,
  networkView,
  bondView,
  messageView,
  taskView,
  smView,
  hostPatchView,
  poolPatchView,
  pciView,
  pgpuView,
  vgpuView,
  gpuGroupView,
  vgpuTypeView,
  vtpmView,
  pusbView,
  vusbView,
  usbGroupView,
];

const byClass = new Map(views.map((view) => [view.className, view]));
const byType = new Map(
  views.flatMap((view) => view.types.map((type) => [type, view])),
);

/** The view of a XAPI class, in the datamodel's spelling. */
export function viewOf(className: string): View | undefined {
  return byClass.get(className);
}

/** The view of an object type. */
export function viewOfType(type: string): View | undefined {
  return byType.get(type);
}
