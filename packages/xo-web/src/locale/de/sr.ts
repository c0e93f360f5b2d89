import type { Messages } from "../en/messages.js";

export const sr: Messages["sr"] = {
  tabs: {
    general: "Allgemein",
    disks: "Festplatten",
    chains: "Ketten",
    statistics: "Statistik",
    events: "Ereignisse",
  },
  cards: {
    space: "Speicherplatz",
    about: "Details",
    hosts: "Hosts",
    biggest: "Größte Festplatten",
    chains: "Snapshot-Ketten",
  },
  properties: {
    kind: "Typ",
    content: "Inhalt",
    sharing: "Geteilt mit",
    allocation: "Zuweisung",
    container: "Container",
    isDefault: "Standard-SR",
    size: "Größe",
    used: "Verwendet",
    free: "Frei",
    allocated: "Für Festplatten zugewiesen",
    disks: "Festplatten, Snapshots, Images",
    description: "Beschreibung",
  },
  columns: {
    sr: "SR",
    host: "Host",
    kind: "Typ",
    used: "Verwendet",
    hostState: "Host-Zustand",
    state: "Zustand",
    device: "Gerätekonfiguration",
  },
  actions: {
    connect: "Verbinden",
    disconnect: "Trennen",
    forget: "Verbindung löschen (PBD)",
  },
  leads: {
    disconnect:
      "VMs mit Festplatten auf diesem SR können auf dem Host nicht laufen, bis er wieder verbunden ist.",
    forget:
      "Die Verbindungsdaten (PBD) des Hosts werden gelöscht. Der Speicher und seine Festplatten bleiben erhalten.",
  },
  reasons: {
    connected: "Bereits verbunden",
    disconnected: "Nicht verbunden",
    disconnectFirst: "Zuerst trennen",
  },
  shared: "geteilt",
  local: "lokal",
  sharedText: "allen Hosts des Pools",
  localText: "einem Host",
  thin: "Thin Provisioning",
  thick: "Thick Provisioning",
  times: "{n}× die Speichergröße",
  noSize: "Größe unbekannt.",
  noHosts: "Kein Host ist verbunden.",
  maintenance:
    "Wartungsmodus: Hosts sind getrennt, VMs mit Festplatten auf diesem SR sind heruntergefahren.",
  yes: "ja",
};
