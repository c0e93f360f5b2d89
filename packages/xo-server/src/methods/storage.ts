import type { PoolObjects } from "../objects/pool-objects.js";
import type { Operation } from "../operations/operation.js";
import { customFieldMethods } from "./custom-field.js";
import { diskMethods } from "./disk.js";
import { messageMethods } from "./message.js";
import { networkMethods } from "./network.js";
import { pbdMethods } from "./pbd.js";
import { pciMethods } from "./pci.js";
import { pifMethods } from "./pif.js";
import { srMethods } from "./sr.js";
import { srCreateMethods } from "./sr-create.js";
import { srProbeMethods } from "./sr-probe.js";
import { usbMethods } from "./usb.js";
import { vbdMethods } from "./vbd.js";
import { vdiMethods } from "./vdi.js";
import { vifMethods } from "./vif.js";
import { vtpmMethods } from "./vtpm.js";

/** What is done to disks, interfaces, devices, networks and storage. */
export function storageMethods(objects: PoolObjects): Operation[] {
  return [
    ...diskMethods(objects),
    ...vdiMethods(objects),
    ...vbdMethods(objects),
    ...vifMethods(objects),
    ...networkMethods(objects),
    ...pbdMethods(objects),
    ...pifMethods(objects),
    ...srMethods(objects),
    ...srCreateMethods(objects),
    ...srProbeMethods(objects),
    ...pciMethods(objects),
    ...usbMethods(objects),
    ...vtpmMethods(objects),
    ...customFieldMethods(objects),
    ...messageMethods(objects),
  ];
}
