import type { Messages } from "../messages.js";

export const heatMap: Messages["heatMap"] = {
  heading: "Karte der Last",
  scope: "Was gezeigt wird",
  everything: "Alle Pools",
  colour: "Farbe",
  size: "Fläche",
  metrics: {
    cpu: "CPU",
    memory: "Speicher",
    disk: "Platten",
    network: "Netzwerk",
  },
  sizes: {
    vcpus: "vCPUs",
    memory: "Speicher",
    equal: "Alle gleich",
  },
  withHalted: "Auch ausgeschaltete VMs",
  legend: "Was die Farben bedeuten",
  below: "unter {n}",
  from: "ab {n}",
  noFigure: "kein Wert",
  perSecond: "{n}/s",
  ofAll: "{used} von {all}",
  vm: "VM",
  hottest: "Höchste Werte: {metric}",
  nowhere: "Läuft nicht",
  said: "{name}, {place}: {metric} {value}",
  help: "Pfeiltasten führen von VM zu VM, Enter öffnet eine, Escape führt zurück zu allen. Die Tabelle neben der Karte hat die höchsten Werte.",
  empty: "Keine Hosts zu zeigen",
  refused: "Die Karte kann nicht gezeigt werden",
};
