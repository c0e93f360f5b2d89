import type { VmwareListResult } from "@xo-server/backup";
import { Type } from "typebox";
import { toImportError } from "../../imports/import-error.js";
import {
  connectionParameters,
  toVmwareServer,
} from "../../imports/vmware-connection.js";
import { defineOperation } from "../definition/define-operation.js";

const closed = { additionalProperties: false } as const;

const VmwareVmType = Type.Object({
  id: Type.String({ description: "Id at the source, such as vm-55." }),
  name: Type.String(),
  powerState: Type.String({
    description: "poweredOff, poweredOn or suspended.",
  }),
  vcpus: Type.Integer(),
  memory: Type.Integer({ description: "In bytes." }),
  firmware: Type.Enum(["bios", "uefi"]),
  guestOs: Type.String(),
  hasSnapshots: Type.Boolean(),
  disks: Type.Array(
    Type.Object({
      name: Type.String(),
      size: Type.Integer({ description: "In bytes." }),
      datastore: Type.String(),
    }),
  ),
  networks: Type.Array(
    Type.Object({ name: Type.String(), mac: Type.String() }),
  ),
  obstacle: Type.Optional(
    Type.String({
      description:
        "Why it cannot be imported, whatever its power state is; absent: it can.",
    }),
  ),
});

const esxiListVms = defineOperation({
  name: "esxi.listVms",
  summary: "List the VMs of VMware: of an ESXi host or a vCenter server.",
  params: Type.Object(connectionParameters, closed),
  result: Type.Array(VmwareVmType),
  permission: "admin",
  // The server opens a connection on behalf of the caller: that is audited.
  changes: true,
  handler: async (connection, { services, signal }) => {
    try {
      const server = toVmwareServer(connection);
      const operation = { type: "vmware-list", server } as const;
      const result = await services.backupWorkers.run(
        { operation },
        { signal },
      );
      return (result as VmwareListResult).vms.map((vm) => ({
        ...vm,
        disks: [...vm.disks],
        networks: [...vm.networks],
      }));
    } catch (error) {
      throw toImportError(error);
    }
  },
});

/** VMs of VMware, before they are imported. */
export const esxiOperations = [esxiListVms];
