import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";

const pciGetDom0AccessStatus = defineOperation({
  name: "pci.getDom0AccessStatus",
  summary:
    "Return whether dom0 can access a PCI device: now, and after the next start of its host.",
  params: Type.Object({ id: idOf("a PCI device") }),
  result: Type.String({
    description: "enabled, disabled, enable_on_reboot or disable_on_reboot.",
  }),
  permission: onId("read", "PCI"),
  handler: async ({ id }, { objects }) => {
    const { xapi, ref } = objects.get(id, "PCI");
    return String(await xapi.call("PCI.get_dom0_access_status", [ref]));
  },
});

const pciDisableDom0Access = defineOperation({
  name: "pci.disableDom0Access",
  summary:
    "Enable or disable the access of dom0 to PCI devices; disabled ones can be passed through to VMs. Takes effect at the next start of the host, which is not rebooted.",
  params: Type.Object({
    pcis: Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 1_000,
      minItems: 1,
      description: "Ids of PCI devices.",
    }),
    disable: Type.Boolean({
      description:
        "true: the devices are hidden from dom0; false: dom0 can access them.",
    }),
    forceReboot: Type.Optional(
      Type.Boolean({ description: "Accepted and ignored: see host.restart." }),
    ),
  }),
  result: Type.Boolean(),
  permission: {
    action: "administrate:set",
    resource: "PCI",
    id: ({ pcis }) => pcis[0]!,
  },
  changes: true,
  handler: async ({ pcis, disable }, context) => {
    for (const id of pcis) context.check("administrate:set", "PCI", id);
    const verb = disable ? "disable" : "enable";
    for (const id of pcis) {
      const { xapi, ref } = context.objects.get(id, "PCI");
      await xapi.call(`PCI.${verb}_dom0_access`, [ref]);
    }
    return true;
  },
});

/** PCI devices of hosts: used by the control domain, or available for passthrough to VMs. */
export const pciOperations = [pciGetDom0AccessStatus, pciDisableDom0Access];
