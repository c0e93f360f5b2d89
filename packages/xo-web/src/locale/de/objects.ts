import type { Messages } from "../messages.js";

export const objects: Messages["objects"] = {
  states: {
    running: "Läuft",
    halted: "Aus",
    paused: "Angehalten",
    suspended: "Ausgelagert",
    working: "Arbeitet",
    lost: "Nicht erreichbar",
    maintenance: "Wartung",
    connected: "Verbunden",
    noLink: "Kein Signal",
  },
  types: {
    VM: { one: "VM", other: "VMs" },
    "VM-template": { one: "Vorlage", other: "Vorlagen" },
    "VM-snapshot": { one: "Snapshot", other: "Snapshots" },
    "VM-controller": { one: "Control Domain", other: "Control Domains" },
    host: { one: "Host", other: "Hosts" },
    pool: { one: "Pool", other: "Pools" },
    SR: { one: "SR", other: "SRs" },
    VDI: { one: "VDI", other: "VDIs" },
    network: { one: "Netzwerk", other: "Netzwerke" },
    PIF: { one: "PIF", other: "PIFs" },
    VIF: { one: "VIF", other: "VIFs" },
    task: { one: "Task", other: "Tasks" },
    message: { one: "Nachricht", other: "Nachrichten" },
  },
};
