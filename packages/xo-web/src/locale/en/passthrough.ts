export const passthrough = {
  heading: "Passthrough devices",
  none: "No PCI or USB devices and no vGPUs.",
  noDevices: "The pool has no free device of this type",
  kind: "Type",
  device: "Device",
  attach: "Attach",
  kinds: { pci: "PCI", usb: "USB", gpu: "vGPU" },
  actions: {
    attachPci: "Attach PCI device…",
    attachUsb: "Attach USB device…",
    attachGpu: "Attach vGPU…",
    detach: "Detach",
  },
  detachOf: "Detach {device}",
  leads: {
    attachPci:
      "Takes effect at the next start. The VM can then start on the host of the device only, and cannot be migrated, suspended or snapshotted with its memory.",
    attachUsb:
      "The VM can then start on the host of the device only. Devices are listed when passthrough is enabled for them on their host, tab Devices.",
    attachGpu: "The VM can then start only on hosts with such a GPU.",
    detach: {
      pci: "Takes effect at the next start of the VM.",
      usb: "The device stays enabled for passthrough.",
      gpu: "The vGPU is deleted. The guest has no such graphics card at its next start.",
    },
  },
};
