import type { Messages } from "../en/messages.js";

export const backupTests: Messages["backup"]["tests"] = {
  lead: "Stellt Backups in einem isolierten Netzwerk wieder her, startet die VMs und löscht sie wieder, um die Backups zu prüfen.",
  add: "Wiederherstellungstests hinzufügen",
  edit: "Wiederherstellungstests {name}",
  none: "Keine Wiederherstellungstests nach Zeitplan",
  noneLead:
    "Beispiel: jede Woche die neuesten Backups von fünf VMs. Ein einzelnes Backup wird in der Liste der Backups getestet.",
  saved: "Wiederherstellungstests {name} gespeichert.",
  deleted: "Wiederherstellungstests {name} gelöscht.",
  deleteQuestion: "Wiederherstellungstests {name} löschen?",
  deleteLead:
    "Ihre Zeitpläne werden gelöscht. Die Ergebnisse der Tests bleiben bei den Backups erhalten.",
  started: "Wiederherstellungstests {name} gestartet.",
  maxVms: "VMs je Lauf",
  maxVmsHint:
    "Die am längsten nicht getesteten VMs. Leer: bei jedem Lauf alle.",
  atATime: { one: "{n} VM je Lauf", other: "{n} VMs je Lauf" },
  bootTimeout: "Zeitlimit in Minuten",
  bootTimeoutHint:
    "Zeit nach dem Start, in der sich die Guest Tools melden müssen oder, in VMs mit dem Tag xo-backup-health-check-xenstore, ein Skript.",
  network: "Netzwerk",
  networks: {
    closed: {
      name: "Isoliertes Netzwerk",
      hint: "Für jeden Test ein neues Netzwerk ohne Verbindung zu anderen.",
    },
    none: {
      name: "Kein Netzwerk",
      hint: "Die VM hat keine Netzwerkschnittstellen.",
    },
  },
  repositoriesHint:
    "Das neueste Backup in diesen Repositorys wird getestet; keines ausgewählt: in allen.",
  unreadableLead:
    "Seine Backups werden nicht getestet, bis es wieder gelesen werden kann.",
  resultOf: "Wiederherstellungstest von {name}",
  backupOf: "Backup vom {time}",
  backupIn: "Backup vom {time} in {repository}",
  passed: "bestanden",
  failed: "fehlgeschlagen",
  answers: {
    tools: "Die Guest Tools haben sich nach {span} gemeldet.",
    script: "Das Skript der VM hat sich nach {span} gemeldet.",
  },
  showScreenshot: "Konsole anzeigen",
  screenshotOf: "Konsole von {name} am Ende des Wiederherstellungstests",
  noScreenshot: "Es gibt keinen Screenshot der Konsole.",
};
