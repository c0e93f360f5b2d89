import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import { createParameters } from "../vms/create-parameters.js";
import { makeVm } from "../vms/make-vm.js";
import { noResourceSets, type ResourceSets } from "../vms/resource-sets.js";

/** New VMs. */
export function vmCreateMethods(
  objects: PoolObjects,
  sets: ResourceSets = noResourceSets,
): Operation[] {
  return [
    defineOperation({
      name: "vm.create",
      summary: "Makes a VM from a template; its id.",
      params: createParameters,
      result: Type.String(),
      // Which rights are needed, template, resource set and all that is used tell.
      permission: "user",
      changes: true,
      rest: {
        method: "post",
        path: "/pools/{pool}/actions/create_vm",
        operationId: "CreateVm",
        exposure: "confirm",
        isAction: true,
        creates: "vms",
        params: { keepVIFs: true },
        body: {
          memory: "memoryMax",
          cpus: "CPUs",
          autoPoweron: "auto_poweron",
          vifs: "VIFs",
          vdis: "VDIs",
          affinity: "affinityHost",
          install: "installation",
          boot: "bootAfterCreate",
          cloud_config: "cloudConfig",
          network_config: "networkConfig",
          destroy_cloud_config_vdi: "destroyCloudConfigVdiAfterBoot",
        },
      },
      handler: (given, context) => makeVm(given, { objects, sets, context }),
    }),
  ];
}
