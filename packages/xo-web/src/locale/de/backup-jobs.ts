import type { Messages } from "../en/messages.js";

export const backupJobs: Messages["backup"]["jobs"] = {
  lead: "Was wann in welche Repositorys gesichert wird. Nach dem ersten Backup werden nur Änderungen gelesen und gespeichert.",
  add: "Backup-Job hinzufügen",
  edit: "Backup-Job {name}",
  none: "Keine Backup-Jobs",
  noneLead: "Beispiel: alle VMs jede Nacht, eine Woche aufbewahrt.",
  noRepository: "Zuerst ein Repository hinzufügen",
  noRepositoryLead: "Ein Backup-Job braucht ein Repository für seine Backups.",
  saved: "Backup-Job {name} gespeichert.",
  deleted: "Backup-Job {name} gelöscht.",
  deleteQuestion: "Backup-Job {name} löschen?",
  deleteLead:
    "Seine Zeitpläne werden gelöscht. Seine Backups bleiben in den Repositorys und werden nicht mehr durch die Aufbewahrung gelöscht.",
  actions: "Aktionen für {name}",
  started: "Backup-Job {name} gestartet.",
  runNow: "Jetzt ausführen",
  plan: "Vorschau",
  enable: "Zeitpläne aktivieren",
  disable: "Zeitpläne deaktivieren",
  moreTypes: "Weitere:",
  otherJobs: "Snapshots und andere Operationen nach Zeitplan:",
  name: "Name",
  which: "VMs",
  vms: "Ausgewählte VMs",
  selections: {
    all: { name: "Alle VMs", hint: "Künftige VMs sind eingeschlossen." },
    filter: {
      name: "VMs, auf die ein Filter zutrifft",
      hint: "Wird bei jedem Lauf ausgewertet, zum Beispiel tags:prod.",
    },
    vms: {
      name: "Ausgewählte VMs",
      hint: "Nur diese; neue VMs sind nicht eingeschlossen.",
    },
    pattern: {
      name: "VMs, auf die ein Muster zutrifft",
      hint: "Von einem Client von Xen Orchestra gesetzt; hier nicht änderbar.",
    },
  },
  matching: {
    one: "Trifft zurzeit auf {n} VM zu.",
    other: "Trifft zurzeit auf {n} VMs zu.",
  },
  leftOut: {
    one: "{n} davon ist durch Tags ausgeschlossen.",
    other: "{n} davon sind durch Tags ausgeschlossen.",
  },
  chosen: { one: "{n} VM", other: "{n} VMs" },
  allVms: "Alle VMs",
  matchingFilter: "VMs mit {filter}",
  excluded: "Ausgeschlossene Tags",
  excludedHint:
    "VMs mit einem dieser Tags werden nicht gesichert. Festplatten mit [NOBAK] im Namen sind ausgeschlossen.",
  when: "Wann",
  unusableLead:
    "Läufe dieses Jobs schlagen fehl, bis es wieder verwendet werden kann.",
  nextRun: "Nächster Lauf: {time}",
  lastRun: "Letzter Lauf",
  frequency: "Häufigkeit",
  frequencies: {
    daily: "Jeden Tag",
    workdays: "Montag bis Freitag",
    weekly: "Jede Woche",
    monthly: "Jeden Monat",
    hourly: "Jede Stunde",
    custom: "Cron-Ausdruck",
    manual: "Kein Zeitplan",
  },
  sentences: {
    daily: "Jeden Tag um {time}",
    workdays: "Montag bis Freitag um {time}",
    weekly: "Jeden {weekday} um {time}",
    monthly: "Am {day}. jedes Monats um {time}",
    hourly: "Jede Stunde in Minute {minute}",
    custom: "Cron: {cron}",
    manual: "Nur manuell gestartet",
  },
  time: "Uhrzeit",
  weekday: "Wochentag",
  day: "Tag des Monats",
  severalSchedules:
    "Dieser Job hat mehrere Zeitpläne; jeder wird in der Liste der Jobs bearbeitet.",
  where: "Repositorys",
  whereHint:
    "Jedes erhält alle Backups; die VM wird, wo möglich, nur einmal gelesen.",
  free: "{size} frei",
  isDisabled: "deaktiviert",
  retention: "Aufbewahrung",
  retentionHint:
    "Ein Backup bleibt erhalten, solange mindestens eine Regel zutrifft.",
  rules: {
    keepLast: "neueste",
    keepDaily: "Tage",
    keepWeekly: "Wochen",
    keepMonthly: "Monate",
    keepYearly: "Jahre",
  },
  ruleNames: {
    keepLast: "neueste",
    keepDaily: "täglich",
    keepWeekly: "wöchentlich",
    keepMonthly: "monatlich",
    keepYearly: "jährlich",
  },
  keeps: {
    keepLast: { one: "das neueste", other: "die neuesten {n}" },
    keepDaily: { one: "{n} Tag", other: "{n} Tage" },
    keepWeekly: { one: "{n} Woche", other: "{n} Wochen" },
    keepMonthly: { one: "{n} Monat", other: "{n} Monate" },
    keepYearly: { one: "{n} Jahr", other: "{n} Jahre" },
  },
  wouldKeep: {
    one: "Jeweils {n} Backup würde aufbewahrt.",
    other: "Jeweils {n} Backups würden aufbewahrt, das älteste vom {date}:",
  },
  moreKept: { one: "und {n} weiteres", other: "und {n} weitere" },
  moreOptions: "Weitere Optionen",
  snapshot: "Snapshots laufender VMs",
  snapshots: {
    normal: "Ohne Arbeitsspeicher",
    memory: "Mit Arbeitsspeicher",
    offline: "Für den Snapshot herunterfahren",
  },
  snapshotHints: {
    normal:
      "Absturzkonsistent wie nach einem Stromausfall: geeignet für Journaling-Dateisysteme und Datenbanken.",
    memory:
      "Die VM kann in diesem Zustand fortgesetzt werden. Braucht mehr Zeit und Platz.",
    offline:
      "Die VM wird heruntergefahren und nach dem Snapshot wieder gestartet.",
  },
  windowFrom: "Backups starten ab",
  windowTo: "bis",
  windowHint:
    "Backups von VMs starten nur in diesem Zeitfenster. Leer: jederzeit.",
  options: {
    concurrency: { name: "Gleichzeitige VMs", hint: "1 bis 32; leer: 2." },
    concurrencyPerHost: {
      name: "Gleichzeitige VMs pro Host",
      hint: "Leer: keine Grenze.",
    },
    concurrencyPerSr: {
      name: "Gleichzeitige VMs pro SR",
      hint: "Leer: keine Grenze.",
    },
    retries: {
      name: "Wiederholungen",
      hint: "Einer fehlgeschlagenen VM; leer: keine.",
    },
    maxRate: {
      name: "Bandbreitenlimit (MB/s)",
      hint: "Für jede VM; leer: keines.",
    },
    fullInterval: {
      name: "Intervall für Vollbackups",
      hint: "Anzahl der Backups, nach denen alle Daten gelesen werden; leer: nur das erste ist ein Vollbackup.",
    },
  },
  flags: {
    preferCbt: {
      name: "Changed Block Tracking verwenden",
      hint: "Wird auf den Festplatten aktiviert, damit nur geänderte Blöcke gelesen werden.",
    },
    preferNbd: {
      name: "Über NBD lesen",
      hint: "Wenn ein Netzwerk des Pools es erlaubt.",
    },
    purgeSnapshotData: {
      name: "Daten der Snapshots löschen",
      hint: "Spart Platz auf dem SR, wenn Changed Block Tracking nur seine eigenen Daten braucht.",
    },
    ignoreLongChains: {
      name: "Auch Festplatten mit langen Ketten sichern",
      hint: "Solche Festplatten warten auf das Zusammenführen; jeder weitere Snapshot verlängert die Kette.",
    },
    isFull: {
      name: "Immer Vollbackups",
      hint: "Liest alle Daten. Langsam; gespeichert werden nur die Unterschiede.",
    },
  },
  inputErrors: {
    required: "Erforderlich.",
    vms: "Wählen Sie mindestens eine VM.",
    filter: "Ein Filter ist erforderlich.",
    repositories: "Wählen Sie mindestens ein Repository.",
    retention: "Mindestens ein Backup muss aufbewahrt werden.",
    number: "Zahl außerhalb des Bereichs.",
    window: "Beide Uhrzeiten sind erforderlich.",
    nothing: "Wählen Sie mindestens einen Pool oder die Konfiguration.",
    source: "Wählen Sie ein Repository.",
    addresses: "Bis zu 50 Adressen wie admin@example.org.",
    webHooks: "Bis zu 10 URLs, die mit http:// oder https:// beginnen.",
    receiver: "Eine Adresse oder ein Webhook ist nötig.",
  },
  planned: {
    heading: "Vorschau von {name}",
    lead: "Das Ergebnis eines Laufs, der jetzt starten würde. Nichts wird ausgeführt.",
    vms: { one: "{n} VM", other: "{n} VMs" },
    sizes: "{full} vollständig gelesen, von {incremental} nur Änderungen",
    problems: {
      one: "{n} VM würde fehlschlagen",
      other: "{n} VMs würden fehlschlagen",
    },
    modes: { full: "vollständig", incremental: "nur Änderungen" },
    skippedDisk: "{name} wird ausgelassen:",
    excluded: "Ausgeschlossene VMs",
    nothing: "Keine passenden VMs.",
  },
};
