import type { Messages } from "../en/messages.js";

export const passthrough: Messages["passthrough"] = {
  heading: "Durchgereichte Geräte",
  none: "Keine PCI- oder USB-Geräte und keine vGPUs.",
  noDevices: "Im Pool ist kein freies Gerät dieses Typs",
  kind: "Art",
  device: "Gerät",
  attach: "Anschließen",
  kinds: { pci: "PCI", usb: "USB", gpu: "vGPU" },
  actions: {
    attachPci: "PCI-Gerät anschließen…",
    attachUsb: "USB-Gerät anschließen…",
    attachGpu: "vGPU anschließen…",
    detach: "Trennen",
  },
  detachOf: "{device} trennen",
  leads: {
    attachPci:
      "Gilt ab dem nächsten Start. Die VM startet dann nur auf dem Host des Geräts. Sie kann nicht migriert oder suspendiert werden, und Snapshots mit Arbeitsspeicher sind nicht möglich.",
    attachUsb:
      "Die VM startet dann nur auf dem Host des Geräts. Geräte erscheinen, wenn das Durchreichen auf ihrem Host (Registerkarte Geräte) aktiviert ist.",
    attachGpu: "Die VM startet dann nur auf Hosts mit einer solchen GPU.",
    detach: {
      pci: "Gilt ab dem nächsten Start der VM.",
      usb: "Das Durchreichen des Geräts bleibt aktiviert.",
      gpu: "Die vGPU wird gelöscht. Der Gast hat diese Grafikkarte ab dem nächsten Start nicht mehr.",
    },
  },
};
