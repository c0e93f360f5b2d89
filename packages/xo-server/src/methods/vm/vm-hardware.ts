import { Type } from "typebox";
import type { PoolObjects } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { withoutPcis, withPcis } from "../../vms/pass-through.js";
import { PoolScope } from "../../vms/pool-scope.js";
import { entryCalls } from "../../vms/settings/setting-calls.js";
import { id } from "../../vms/parameters/vm-parameters.js";
import { readRecord } from "../../vms/xapi-records.js";
import { idOf, onId } from "../definition/on-object.js";

const pcis = Type.Array(Type.String({ minLength: 1 }), {
  maxItems: 64,
  description:
    "PCI devices: ids to attach, addresses (0000:04:00.0) to detach.",
});

const shared = { result: Type.Boolean(), changes: true };

const setPcis = async (
  { objects }: Pick<OperationContext, "objects">,
  vm: string,
  change: (before: string | undefined) => string,
) => {
  const { xapi, ref } = objects.get(vm, "VM");
  const { other_config } = await readRecord(xapi, "VM", ref);
  const pci = change(other_config["pci"]);
  const calls = entryCalls("other_config", { pci: pci === "" ? null : pci });
  for (const [message, ...params] of calls)
    await xapi.call(`VM.${message}`, [ref, ...params]);
  return true;
};

const vmAttachPcis = defineOperation({
  ...shared,
  name: "vm.attachPcis",
  summary:
    "Attach PCI devices of its host to a VM (PCI passthrough). Takes effect at the next start of the VM.",
  params: Type.Object({ id, pcis }),
  permission: onId("administrate:set", "VM"),
  handler: ({ id, pcis }, context) => {
    const addresses = pcis.map((pci) => {
      context.check("administrate:attach", "PCI", pci);
      return String(context.objects.get(pci, "PCI").object["pci_id"]);
    });
    return setPcis(context, id, (before) => withPcis(before, addresses));
  },
});

const vmDetachPcis = defineOperation({
  ...shared,
  name: "vm.detachPcis",
  summary: "Detach PCI devices, named by their addresses, from a VM.",
  params: Type.Object({ id, pciIds: pcis }),
  permission: onId("administrate:set", "VM"),
  handler: ({ id, pciIds }, context) =>
    setPcis(context, id, (before) => withoutPcis(before, pciIds)),
});

const vmCreateVgpu = defineOperation({
  ...shared,
  name: "vm.createVgpu",
  summary: "Create a virtual GPU (vGPU) of a halted VM.",
  params: Type.Object({
    vm: id,
    gpuGroup: idOf("a GPU group"),
    vgpuType: idOf("a vGPU type"),
  }),
  permission: {
    action: "administrate:set",
    resource: "VM",
    id: ({ vm }) => vm,
  },
  handler: async ({ vm, gpuGroup, vgpuType }, context) => {
    const found = context.objects.get(vm, "VM");
    const scope = new PoolScope(context.objects, found, context);
    const group = scope.use("operate:attach", "gpuGroup", gpuGroup);
    const type = scope.use("read", "vgpuType", vgpuType);
    const params = [found.ref, group.ref, "0", {}, type.ref];
    await found.xapi.callAsync("VGPU.create", params);
    return true;
  },
});

const vmDeleteVgpu = defineOperation({
  ...shared,
  name: "vm.deleteVgpu",
  summary: "Delete a virtual GPU (vGPU) of a halted VM.",
  params: Type.Object({ vgpu: idOf("a vGPU") }),
  permission: {
    action: "administrate:delete",
    resource: "vgpu",
    id: ({ vgpu }) => vgpu,
  },
  handler: async ({ vgpu }, { objects }) => {
    const { xapi, ref } = objects.get(vgpu, "vgpu");
    await xapi.callAsync("VGPU.destroy", [ref]);
    return true;
  },
});

const vmCoalesceLeaf = defineOperation({
  ...shared,
  name: "vm.coalesceLeaf",
  summary:
    "Coalesce the leaf images of a VM's disks. The VM is suspended during that time.",
  params: Type.Object({ id }),
  permission: onId("administrate:coalesce", "VM"),
  handler: async ({ id }, { objects }) => {
    const { xapi, object } = objects.get(id, "VM");
    const host = hostOf(objects, object);
    const args = { vm_uuid: String(object["uuid"]) };
    const params = [host, "coalesce-leaf", "leaf-coalesce", args];
    await xapi.callAsync("host.call_plugin", params);
    return true;
  },
});

const vmGetCloudInitConfig = defineOperation({
  name: "vm.getCloudInitConfig",
  summary: "Return the cloud-init configuration of a template.",
  params: Type.Object({ template: idOf("a template") }),
  result: Type.String(),
  permission: {
    action: "read",
    resource: "VM-template",
    id: ({ template }) => template,
  },
  handler: async ({ template }, { objects }) => {
    const { xapi, object } = objects.get(template, "VM-template");
    const args = { templateuuid: String(object["uuid"]) };
    const answer = await xapi.call(
      "host.call_plugin",
      [
        hostOf(objects, object),
        "xscontainer",
        "get_config_drive_default",
        args,
      ],
      { idempotent: true },
    );
    // The plugin answers "True", followed by the configuration.
    return String(answer).replace(/^True/, "");
  },
});

const vmGetSecurebootReadiness = defineOperation({
  name: "vm.getSecurebootReadiness",
  summary:
    "Return whether a VM is ready for Secure Boot, or the reason why it is not.",
  params: Type.Object({
    id,
    forceRefresh: Type.Optional(
      Type.Boolean({
        description: "Accepted and ignored: the result is never cached.",
      }),
    ),
  }),
  result: Type.String(),
  permission: onId("read", "VM"),
  handler: async ({ id }, { objects }) => {
    const { xapi, ref } = objects.get(id, "VM");
    return String(await xapi.call("VM.get_secureboot_readiness", [ref]));
  },
});

/** The host on which a VM runs; for a halted VM any host of the pool. */
function hostOf(
  objects: PoolObjects,
  { $container, $pool }: Readonly<Record<string, unknown>>,
): string {
  const container = objects.get(String($container), "host", "pool");
  if (container.type === "host") return container.ref;
  const { master } = objects.get(String($pool), "pool").object;
  return objects.get(String(master), "host").ref;
}

/** Hardware of hosts that is assigned to VMs, and operations that need the host of the VM. */
export const vmHardwareOperations = [
  vmAttachPcis,
  vmDetachPcis,
  vmCreateVgpu,
  vmDeleteVgpu,
  vmCoalesceLeaf,
  vmGetCloudInitConfig,
  vmGetSecurebootReadiness,
];
