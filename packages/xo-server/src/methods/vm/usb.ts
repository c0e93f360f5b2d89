import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { idOf, idOfMade, onId } from "../definition/on-object.js";
import type { AdministrateVerb } from "../../rights/actions.js";

const shared = { result: Type.Boolean(), changes: true };

const onVusb = (name: AdministrateVerb, verb: string, summary: string) =>
  defineOperation({
    ...shared,
    name: `vusb.${name}`,
    summary,
    params: Type.Object({ id: idOf("a VUSB") }),
    permission: onId(`administrate:${name}`, "VUSB"),
    handler: async ({ id }, { objects }) => {
      const { xapi, ref } = objects.get(id, "VUSB");
      await xapi.callAsync(`VUSB.${verb}`, [ref]);
      return true;
    },
  });

const vusbCreate = defineOperation({
  name: "vusb.create",
  summary:
    "Attach a device of a USB group to a halted VM and return the id of the VUSB.",
  params: Type.Object({ vm: idOf("a VM"), usbGroup: idOf("a USB group") }),
  result: Type.String(),
  permission: {
    action: "administrate:create-vusb",
    resource: "VM",
    id: ({ vm }) => vm,
  },
  changes: true,
  handler: async ({ vm, usbGroup }, context) => {
    context.check("operate:use", "USB_group", usbGroup);
    const { xapi, ref } = context.objects.get(vm, "VM");
    const group = context.objects.get(usbGroup, "USB_group").ref;
    const created = await xapi.callAsync("VUSB.create", [ref, group, {}]);
    return idOfMade(context.objects, xapi, { type: "VUSB", ref: created });
  },
});

const pusbScan = defineOperation({
  ...shared,
  name: "pusb.scan",
  summary: "Scan a host for new USB devices.",
  params: Type.Object({ host: idOf("a host") }),
  permission: {
    action: "administrate:scan",
    resource: "host",
    id: ({ host }) => host,
  },
  handler: async ({ host }, { objects }) => {
    const { xapi, ref } = objects.get(host, "host");
    await xapi.callAsync("PUSB.scan", [ref]);
    return true;
  },
});

const pusbSet = defineOperation({
  ...shared,
  name: "pusb.set",
  summary: "Enable or disable passthrough of a USB device of a host.",
  params: Type.Object({
    id: idOf("a PUSB"),
    enabled: Type.Optional(
      Type.Boolean({ description: "Whether passthrough is enabled." }),
    ),
  }),
  permission: onId("administrate:set", "PUSB"),
  handler: async ({ id, enabled }, { objects }) => {
    const { xapi, ref } = objects.get(id, "PUSB");
    if (enabled !== undefined)
      await xapi.callAsync("PUSB.set_passthrough_enabled", [ref, enabled]);
    return true;
  },
});

/** USB devices of hosts, and their passthrough to VMs. */
export const usbOperations = [
  vusbCreate,
  onVusb("unplug", "unplug", "Unplug a USB device from a running VM."),
  onVusb("destroy", "destroy", "Detach a USB device from a VM."),
  pusbScan,
  pusbSet,
];
