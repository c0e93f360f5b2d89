import { CircuitBoard, MonitorUp, Unplug, Usb } from "@lucide/vue";
import type { Action } from "../../actions/plan/action.js";
import { unlessState } from "../../actions/kinds/reasons.js";
import type { Messages } from "../../locale/messages.js";
import { ownAction } from "../own-action.js";

/** Something that can be attached. */
export interface DeviceChoice {
  readonly id: string;
  readonly label: string;
}

const ofVm = { types: ["VM"], group: "change", isForOne: true } as const;
type Actions = Messages["passthrough"]["actions"];

/** @param order the operation for a chosen device */
function attachment(
  what: keyof Pick<Actions, "attachPci" | "attachUsb" | "attachGpu">,
  devices: readonly DeviceChoice[],
  parts: Pick<Parameters<typeof ownAction>[0], "icon" | "refusalOf"> & {
    readonly order: (
      device: string,
    ) => ReturnType<NonNullable<Action["operation"]>>;
  },
): Action {
  const { icon, refusalOf, order } = parts;
  return ownAction({
    ...ofVm,
    id: `vm.${what}`,
    icon,
    label: (text) => text.passthrough.actions[what],
    refusalOf: (vm, text) =>
      refusalOf?.(vm, text) ??
      (devices.length === 0 ? text.passthrough.noDevices : undefined),
    formOf: (_, { text }) => ({
      lead: text.passthrough.leads[what],
      fields: [
        {
          kind: "choice",
          id: "device",
          label: text.passthrough.device,
          options: devices,
        },
      ],
      button: text.passthrough.attach,
    }),
    operation: (_, { device }) =>
      order(typeof device === "string" ? device : ""),
  });
}

const unlessHalted: NonNullable<Action["refusalOf"]> = (vm, text) =>
  unlessState(vm, text, "Halted");

/** @param devices PCI devices by id */
export const attachPci = (devices: readonly DeviceChoice[]): Action =>
  attachment("attachPci", devices, {
    icon: CircuitBoard,
    order: (pci) => ({ method: "vm.attachPcis", params: { pcis: [pci] } }),
  });

/** @param devices USB groups by id */
export const attachUsb = (devices: readonly DeviceChoice[]): Action =>
  attachment("attachUsb", devices, {
    icon: Usb,
    refusalOf: unlessHalted,
    order: (usbGroup) => ({
      method: "vusb.create",
      idParameter: "vm",
      params: { usbGroup },
    }),
  });

/** @param devices `group/type` */
export const attachGpu = (devices: readonly DeviceChoice[]): Action =>
  attachment("attachGpu", devices, {
    icon: MonitorUp,
    refusalOf: unlessHalted,
    order: (device) => {
      const [gpuGroup = "", vgpuType = ""] = device.split("/");
      const params = { gpuGroup, vgpuType };
      return { method: "vm.createVgpu", idParameter: "vm", params };
    },
  });

/** A device that a VM has. */
export interface AttachedDevice {
  readonly kind: "pci" | "usb" | "gpu";
  /** A PCI address, or the id of the VUSB or vGPU. */
  readonly id: string;
}

/**
 * The action for one device of a VM. PCI devices may also be detached from a VM
 * that is not halted.
 */
export const detachDevice = ({ kind, id }: AttachedDevice): Action =>
  ownAction({
    ...ofVm,
    id: "vm.detachDevice",
    group: "danger",
    icon: Unplug,
    label: (text) => text.passthrough.actions.detach,
    ...(kind === "pci" ? {} : { refusalOf: unlessHalted }),
    formOf: (_, { text }) => ({ lead: text.passthrough.leads.detach[kind] }),
    operation: () => {
      if (kind === "pci")
        return { method: "vm.detachPcis", params: { pciIds: [id] } };
      return kind === "usb"
        ? { method: "vusb.destroy", idParameter: "", params: { id } }
        : { method: "vm.deleteVgpu", idParameter: "", params: { vgpu: id } };
    },
  });
