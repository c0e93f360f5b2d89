import type { Messages } from "../en/messages.js";

export const heatMap: Messages["heatMap"] = {
  heading: "Heatmap",
  scope: "Bereich",
  everything: "Alle Pools",
  colour: "Farbe",
  size: "Fläche",
  metrics: {
    cpu: "CPU",
    memory: "RAM",
    disk: "Festplatte",
    network: "Netzwerk",
  },
  sizes: {
    vcpus: "vCPUs",
    memory: "RAM",
    equal: "Gleich groß",
  },
  withHalted: "Ausgeschaltete VMs einschließen",
  legend: "Farblegende",
  below: "unter {n}",
  from: "ab {n}",
  noFigure: "keine Daten",
  perSecond: "{n}/s",
  ofAll: "{used} von {all}",
  vm: "VM",
  hottest: "Höchste Werte: {metric}",
  notRunning: "Läuft nicht",
  announcement: "{name}, {location}: {metric} {value}",
  help: "Pfeiltasten wechseln zwischen VMs, Enter öffnet eine VM, Escape verkleinert. Die Tabelle zeigt die höchsten Werte.",
  empty: "Keine Hosts",
  refused: "Die Heatmap kann nicht angezeigt werden",
};
