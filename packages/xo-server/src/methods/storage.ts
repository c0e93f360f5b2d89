import type { PoolObjects } from "../objects/pool-objects.js";
import type { Operation } from "../operations/operation.js";
import { diskMethods } from "./disk.js";
import { networkMethods } from "./network.js";
import { pbdMethods } from "./pbd.js";
import { pifMethods } from "./pif.js";
import { srMethods } from "./sr.js";
import { srCreateMethods } from "./sr-create.js";
import { srProbeMethods } from "./sr-probe.js";
import { vbdMethods } from "./vbd.js";
import { vdiMethods } from "./vdi.js";
import { vifMethods } from "./vif.js";

/** What is done to disks, interfaces, networks and storage. */
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
  ];
}
