import type { Messages } from "../en/messages.js";

export const backupMetadata: Messages["backup"]["metadata"] = {
  add: "Metadaten-Job hinzufügen",
  addLead:
    "Datenbanken von Pools (VMs, Netzwerke, Speicher; keine Festplatten) und die Konfiguration dieses Servers: nötig, wenn ein Pool oder der Server verloren ist.",
  heading: "Pools und Server",
  lead: "Datenbanken von Pools und die Konfiguration dieses Servers. Sie enthalten Passwörter: Nur Administratoren sehen sie.",
  pools: "Datenbanken von Pools",
  configuration: "Konfiguration dieses Servers",
  configurationHint:
    "Benutzer, Rechte, Jobs, Repositorys und Verbindungen zu Pools mit ihren Passwörtern.",
  poolCount: {
    one: "Datenbank von {n} Pool",
    other: "Datenbanken von {n} Pools",
  },
  server: "Konfiguration des Servers",
  what: "Backup von",
  time: "Zeit",
  repository: "Repository",
  size: "Größe",
  showAll: "Alle {n} anzeigen",
  restore: "Wiederherstellen",
  check: "Prüfen",
  checked: "Der Pool kann die Datenbank von {name} wiederherstellen.",
  choosePool: "Wählen Sie einen Pool.",
  kinds: {
    check: {
      name: "Nur prüfen",
      hint: "Der Pool prüft, ob er diese Datenbank wiederherstellen könnte. Nichts ändert sich.",
    },
    restore: {
      name: "Datenbank des Pools ersetzen",
      hint: "Nach einer erfolgreichen Prüfung.",
    },
  },
  poolWarning:
    "Die Datenbank des Pools wird durch das Backup ersetzt: VMs, Snapshots und andere seither erstellte Objekte gehen verloren; ihre Festplatten bleiben auf den SRs. Der Toolstack des Koordinators startet neu. Nur ein Pool mit denselben Hosts kann wiederhergestellt werden.",
  serverWarning:
    "Benutzer, Rechte, Jobs, Repositorys und Verbindungen zu Pools dieses Servers werden durch die des Backups ersetzt. Benutzer müssen sich eventuell neu anmelden.",
  deleteLead:
    "Es wird aus {repository} gelöscht und kann nicht wiederhergestellt werden. Andere Backups brauchen es nicht.",
};

export const backupMirror: Messages["backup"]["mirror"] = {
  add: "Spiegel-Job hinzufügen",
  addLead:
    "Kopiert Backups eines Repositorys in andere, etwa an einem anderen Standort. Geschrieben werden nur Daten, die dem Ziel fehlen. Jede Kopie wird beim Lesen geprüft und hängt nicht von der Quelle ab.",
  source: "Quelle",
  what: "Backups",
  selections: {
    all: {
      name: "Alle Backups der Quelle",
      hint: "Auch von künftigen VMs, Pools und der Konfiguration.",
    },
    vms: { name: "Von ausgewählten VMs", hint: "Nur diese." },
  },
  vms: "Ausgewählte VMs",
  noVms: "Die Quelle hat keine Backups von VMs.",
  backups: { one: "{n} Backup", other: "{n} Backups" },
  copies: "Kopien von {name}",
};
