import type { OperationTable } from "../../operation.js";

/** Dom0 has access to all PCI devices; a scan for USB devices finds no new ones. */
export const hostDeviceOperations: OperationTable = {
  "PCI.get_dom0_access_status": () => "enabled",
  "PUSB.scan": () => undefined,
};
