import type { Messages } from "../messages.js";

export const sr: Messages["sr"] = {
  tabs: {
    general: "Allgemein",
    disks: "Disks",
    chains: "Ketten",
    statistics: "Statistik",
    events: "Aufgaben und Ereignisse",
  },
  cards: {
    space: "Platz",
    about: "Über den Speicher",
    hosts: "Hosts",
    biggest: "Größte Disks",
    chains: "Snapshot-Ketten",
  },
  facts: {
    kind: "Art",
    content: "Inhalt",
    sharing: "Erreicht von",
    allocation: "Disks nehmen",
    container: "Gehört zu",
    isDefault: "Standard-SR",
    size: "Größe",
    used: "Belegt",
    free: "Frei",
    promised: "Für Disks zugesagt",
    disks: "Disks, Snapshots, Abbilder",
    description: "Beschreibung",
  },
  columns: {
    sr: "SR",
    host: "Host",
    kind: "Art",
    used: "Belegt",
    hostState: "Host ist",
    state: "Zustand",
    device: "Wie",
  },
  acts: {
    connect: "Verbinden",
    disconnect: "Trennen",
    forget: "Verbindung vergessen",
  },
  leads: {
    disconnect:
      "VMs mit Disks hier laufen auf diesem Host erst wieder, wenn er verbunden ist.",
    forget:
      "Der Host vergisst, wie er verbunden ist. Der Speicher und seine Disks bleiben.",
  },
  reasons: {
    connected: "Sie ist verbunden",
    disconnected: "Sie ist nicht verbunden",
    disconnectFirst: "Erst trennen",
  },
  shared: "gemeinsam",
  local: "lokal",
  sharedWords: "allen Hosts des Pools",
  localWords: "einem Host",
  thin: "was geschrieben ist (thin)",
  thick: "ihre ganze Größe (thick)",
  times: "das {n}-fache seiner Größe",
  noSize: "Seine Größe ist nicht bekannt.",
  noHosts: "Kein Host ist damit verbunden.",
  defaultOf: "seines Pools",
  maintenance:
    "In Wartung: Hosts sind getrennt, VMs mit Disks hier sind abgeschaltet.",
  yes: "ja",
};
