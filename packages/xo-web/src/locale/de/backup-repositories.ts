import type { Messages } from "../en/messages.js";

export const backupRepositories: Messages["backup"]["repositories"] = {
  lead: "Backups werden in Repositorys gespeichert. Alle Daten sind verschlüsselt und authentifiziert; jedes Backup kann ohne die anderen wiederhergestellt werden.",
  add: "Repository hinzufügen",
  edit: "Repository {name}",
  none: "Keine Repositorys",
  noneLead:
    "Ein Repository ist ein Ordner auf diesem Server, eine eingehängte Netzwerkfreigabe oder ein Bucket eines Objektspeichers (S3) mit genug Platz für die Backups Ihrer VMs.",
  actions: "Aktionen für {name}",
  kind: "Repository",
  kinds: {
    new: {
      name: "Neues Repository erstellen",
      hint: "In einem leeren Ordner.",
    },
    existing: {
      name: "Vorhandenes Repository öffnen",
      hint: "Von diesem oder einem anderen Server, mit Passphrase oder Wiederherstellungsschlüssel.",
    },
  },
  name: "Name",
  location: "Ordner",
  placeHint:
    "Ein absoluter Pfad auf dem Server oder eine URL. Netzwerkfreigaben vorher einhängen.",
  movedHint: "Dasselbe Repository muss schon im neuen Ordner liegen.",
  passphrase: "Passphrase",
  passphraseHint:
    "Mindestens 8 Zeichen. Nötig, um das Repository auf einem anderen Server zu öffnen.",
  again: "Passphrase wiederholen",
  parity: "Parität speichern",
  parityHint:
    "Etwa 6 % mehr Platz. Beschädigte Dateien werden bei der Prüfung repariert.",
  opener: "Öffnen mit",
  openers: {
    passphrase: "Passphrase",
    recoveryKey: "Wiederherstellungsschlüssel",
  },
  recoveryKey: "Wiederherstellungsschlüssel",
  recoveryKeyHint: "Vom Wiederherstellungsblatt.",
  options: "Notizen",
  optionsHint: "Optional, zum Beispiel was dort eingehängt ist.",
  verifyDays: "Prüfzeitraum (Tage)",
  verifyDaysHint:
    "In diesem Zeitraum werden alle Daten einmal gelesen und geprüft. 0: nur auf Anforderung.",
  create: "Erstellen",
  open: "Öffnen",
  inputErrors: {
    required: "Erforderlich.",
    location: "Ein absoluter Pfad wie /mnt/backups oder eine URL.",
    short: "Mindestens 8 Zeichen.",
    different: "Die Passphrasen sind verschieden.",
    days: "Eine Zahl von 0 bis 3650.",
  },
  saved: "Repository {name} gespeichert.",
  opened: "Repository {name} geöffnet.",
  removed: "Repository {name} vom Server entfernt.",
  remove: "Entfernen",
  removeQuestion: "Repository {name} entfernen?",
  removeLead:
    "Der Server entfernt das Repository und seine Schlüssel aus seiner Konfiguration. Dateien und Backups werden nicht gelöscht; um es wieder zu öffnen, ist die Passphrase oder der Wiederherstellungsschlüssel nötig. Jobs, die es verwenden, schlagen fehl.",
  sheetOf: "Wiederherstellungsblatt von {name}",
  sheet: "Wiederherstellungsblatt",
  sheetLead:
    "Mit diesem Blatt und den Dateien des Repositorys lässt sich alles wiederherstellen, auch ohne diesen Server.",
  sheetWarning:
    "Drucken Sie es oder speichern Sie es an einem anderen Ort: Ohne Wiederherstellungsschlüssel und Passphrase sind die Backups zusammen mit diesem Server verloren.",
  print: "Drucken",
  saveSheet: "Als Datei speichern",
  sheetKept: "Ich habe das Wiederherstellungsblatt gedruckt oder gespeichert",
  sheetFirst:
    "Bestätigen Sie zuerst, dass Sie das Wiederherstellungsblatt aufbewahrt haben.",
  sheetDone: "Fertig",
  showSheet: "Anzeigen",
  ownPassword: "Ihr Passwort",
  ownPasswordHint:
    "Wer das Blatt hat, kann alle Backups des Repositorys lesen.",
  states: {
    disabled: "Deaktiviert",
    failed: "Nicht erreichbar",
    readOnly: "Schreibgeschützt",
    full: "Voll",
    replaced: "Anderes Repository",
    older: "Älter als zuvor",
    damaged: "Beschädigt",
    reached: "Erreichbar",
    unknown: "Noch nicht geprüft",
  },
  state: "Repository {name}: {state}.",
  advice: {
    failed:
      "Prüfen Sie, ob sein Speicher eingehängt ist oder antwortet und ob der Server darin schreiben darf; wählen Sie dann „Verbindung prüfen“.",
    readOnly:
      "Binden Sie es mit Schreibzugriff ein, und lassen Sie den Benutzer des Servers in den Ordner schreiben. Bis dahin lassen sich Backups wiederherstellen und prüfen, aber nicht anlegen oder löschen.",
    full: "Vergrößern Sie den Speicher, oder löschen Sie Backups und starten Sie einen Tag später die Speicherbereinigung. Wiederherstellungen sind solange möglich.",
    replaced:
      "Hängen Sie das richtige ein, oder entfernen Sie dieses vom Server und fügen Sie es neu hinzu.",
    older:
      "Dateien sind verloren, oder eine ältere Kopie steht an seiner Stelle: Bringen Sie die neueren Dateien zurück. Um mit dem älteren Stand weiterzuarbeiten, entfernen Sie es vom Server und fügen Sie es neu hinzu.",
    damaged:
      "Wählen Sie „Alles prüfen“: Damit wird repariert, was repariert werden kann. Ist das Protokoll verloren, bringen Sie die Dateien von log/ oder copies/log/ aus einer Kopie des Repositorys zurück.",
  },
  since: "Zuerst festgestellt: {age}.",
  properties: {
    backups: "Backups",
    used: "Belegt",
    deduplication: "Deduplizierung",
    growth: "Wachstum",
    verified: "Zuletzt geprüft",
    rates: "Benchmark",
  },
  notKnown: "–",
  ofData: "für {size} an Festplatten",
  freeOf: "{free} frei von {size}",
  fullness: "Belegter Platz des Dateisystems",
  times: "{n}×",
  moreTimes: "mehr als {n}×",
  deduplicationLead: "Festplatten im Vergleich zum belegten Platz",
  perDay: "{size} pro Tag",
  growthLater: "nach einem Tag verfügbar",
  fullIn: { one: "voll in {n} Tag", other: "voll in {n} Tagen" },
  neverVerified: "nie",
  verifying: "nicht abgeschlossen",
  damaged: {
    one: "{n} beschädigtes Backup",
    other: "{n} beschädigte Backups",
  },
  damagedFiles: {
    one: "{n} beschädigte Datei",
    other: "{n} beschädigte Dateien",
  },
  repaired: { one: "{n} Datei repariert", other: "{n} Dateien repariert" },
  collected: "{size} freigegeben {age}",
  rates: "{read}/s lesen, {write}/s schreiben",
  findings: "Beschädigte Dateien, die nicht repariert werden konnten:",
  findingsLead:
    "Die nächsten Backups speichern die verlorenen Daten erneut, soweit die VMs sie noch haben. Prüfen Sie den Speicher des Repositorys.",
  moreFiles: { one: "und {n} weitere", other: "und {n} weitere" },
  unknownFiles:
    "Dateien, die andere Programme in diesem Repository hinterlassen haben:",
  unknownFilesLead:
    "Sie werden nicht gelesen und nie gelöscht. Verschieben Sie sie an einen anderen Ort: Außer dem Server sollte nichts in das Repository schreiben.",
  problems: {
    missing: "fehlt",
    damaged: "ist beschädigt",
    unprotected: "hat keine Parität",
    "not-in-log": "ist nicht im Protokoll",
    inconsistent: "ist widersprüchlich",
  },
  isDisabled: "Das Repository ist deaktiviert.",
  isBusy: "Eine Aufgabe des Repositorys läuft.",
  check: "Verbindung prüfen",
  verify: "Jetzt prüfen",
  verifyAll: "Alles prüfen",
  collect: "Speicherbereinigung",
  benchmark: "Benchmark",
  passphrases: "Passphrasen",
  disable: "Deaktivieren",
  enable: "Aktivieren",
  outcomes: {
    verified: "{name}: {size} geprüft, nichts ist beschädigt.",
    damaged: {
      one: "{name}: {n} beschädigte Datei konnte nicht repariert werden.",
      other: "{name}: {n} beschädigte Dateien konnten nicht repariert werden.",
    },
    collected:
      "{name}: {size} freigegeben. Dateien, die kein Backup braucht, werden einen Tag nach ihrer Entdeckung gelöscht.",
    measured: "{name}: {read}/s lesen, {write}/s schreiben.",
  },
  passphrasesOf: "Passphrasen von {name}",
  passphrasesLead:
    "Jede öffnet das Repository. Der Wiederherstellungsschlüssel öffnet es immer.",
  noPassphrases: "Keine: Nur der Wiederherstellungsschlüssel öffnet es.",
  addPassphrase: "Passphrase hinzufügen",
  removePassphrase: "Passphrase {name} löschen",
  passphraseName: "1 bis 64 Buchstaben, Ziffern, - oder _.",
};
