import type { Messages } from "../en/messages.js";

export const objects: Messages["objects"] = {
  hidden: "Gelöscht oder mit Ihren Berechtigungen nicht sichtbar",
  states: {
    running: "Läuft",
    halted: "Aus",
    paused: "Pausiert",
    suspended: "Suspendiert",
    working: "Beschäftigt",
    lost: "Nicht erreichbar",
    maintenance: "Wartung",
    connected: "Verbunden",
    noLink: "Kein Link",
  },
  types: {
    VM: { one: "VM", other: "VMs" },
    "VM-template": { one: "Vorlage", other: "Vorlagen" },
    "VM-snapshot": { one: "Snapshot", other: "Snapshots" },
    "VM-controller": { one: "Control Domain", other: "Control Domains" },
    host: { one: "Host", other: "Hosts" },
    pool: { one: "Pool", other: "Pools" },
    SR: { one: "SR", other: "SRs" },
    VDI: { one: "Festplatte", other: "Festplatten" },
    network: { one: "Netzwerk", other: "Netzwerke" },
    PIF: { one: "PIF", other: "PIFs" },
    VIF: { one: "VIF", other: "VIFs" },
    task: { one: "Aufgabe", other: "Aufgaben" },
    message: { one: "Nachricht", other: "Nachrichten" },
  },
};
