import type { Messages } from "../en/messages.js";
import { backupRepositories } from "./backup-repositories.js";
import { backupErrors } from "./backup-errors.js";
import { backupJobs } from "./backup-jobs.js";
import { backupFiles } from "./backup-files.js";
import { backupTests } from "./backup-tests.js";
import { backupMetadata, backupMirror } from "./backup-metadata.js";

export const backup: Messages["backup"] = {
  parts: "Bereiche der Backup-Seite",
  tabs: {
    overview: "Übersicht",
    backups: "Backups",
    jobs: "Jobs",
    runs: "Läufe",
    tests: "Wiederherstellungstests",
    repositories: "Repositorys",
  },
  repositories: backupRepositories,
  errors: backupErrors,
  jobs: backupJobs,
  files: backupFiles,
  tests: backupTests,
  metadata: backupMetadata,
  mirror: backupMirror,
  reports: {
    when: "Bericht per E-Mail oder Webhook",
    whenHint:
      "Nach jedem Lauf: was gesichert oder übersprungen wurde, mit Gründen.",
    times: {
      never: "Nie",
      failure: "Nach Läufen mit Fehlern",
      always: "Nach jedem Lauf",
    },
    addresses: "E-Mail-Adressen",
    addressesHint:
      "Durch Kommas getrennt. Erfordert einen Mailserver in der Konfiguration.",
    webHooks: "URLs von Webhooks",
    webHooksHint:
      "Sie erhalten das Protokoll des Laufs als JSON. Durch Leerzeichen getrennt.",
  },
  runs: {
    lead: "Läufe von Backup-Jobs: gelesene und gespeicherte Daten je VM, Festplatte, Pool und Kopie, mit Gründen.",
    all: "Alle Läufe",
    none: "Noch kein Backup-Job ist gelaufen",
    noVms: "Keine VMs.",
    vms: "VMs",
    data: "Daten",
    cancelRun: "{name} abbrechen, {time}",
    succeeded: { one: "{n} erfolgreich", other: "{n} erfolgreich" },
    failed: { one: "{n} fehlgeschlagen", other: "{n} fehlgeschlagen" },
    skipped: { one: "{n} übersprungen", other: "{n} übersprungen" },
    notBegun: { one: "{n} nicht gestartet", other: "{n} nicht gestartet" },
    transfer: "{read} gelesen, {stored} gespeichert",
    rate: "{rate}/s",
    statuses: {
      success: "erfolgreich",
      failure: "fehlgeschlagen",
      skipped: "übersprungen",
      aborted: "abgebrochen",
    },
    modes: { full: "vollständig", incremental: "inkrementell" },
    attempts: { one: "{n} Versuch", other: "{n} Versuche" },
    deleted: {
      one: "{n} altes Backup gelöscht",
      other: "{n} alte Backups gelöscht",
    },
    shortened: {
      one: "Das Protokoll war zu lang: Einzelheiten von {n} VM fehlen.",
      other: "Das Protokoll war zu lang: Einzelheiten von {n} VMs fehlen.",
    },
    readFor: "zusammen mit {name} gelesen",
    copied: { one: "{n} Backup kopiert", other: "{n} Backups kopiert" },
    disk: "Festplatte",
    size: "Größe",
    read: "Gelesen",
    stored: "Gespeichert",
    source: "Quelle",
    sources: {
      "nbd-changed": "geänderte Blöcke, über NBD",
      xva: "Export der ganzen VM (XVA)",
      "vhd-delta": "Unterschied von Snapshots (VHD)",
      nbd: "ganze Festplatte, über NBD",
      vhd: "ganze Festplatte (VHD)",
      raw: "ganze Festplatte (raw)",
    },
    mismatches: {
      one: "Changed Block Tracking hat {n} Block übersehen: Die Festplatte wurde vollständig gelesen.",
      other:
        "Changed Block Tracking hat {n} Blöcke übersehen: Die Festplatte wurde vollständig gelesen.",
    },
    skippedDisk: "{name} wird ausgelassen:",
  },
  overview: {
    nothing: "Noch keine VM wird gesichert",
    nothingLead: "Zwei Schritte schützen Ihre VMs.",
    steps: {
      repository: {
        name: "Ein Repository",
        hint: "Wo die Backups gespeichert werden: ein Ordner, eine eingehängte Netzwerkfreigabe oder ein Objektspeicher (S3).",
        act: "Repository hinzufügen",
      },
      job: {
        name: "Ein Backup-Job",
        hint: "Welche VMs gesichert werden, wann, und wie lange Backups aufbewahrt werden.",
        act: "Backup-Job hinzufügen",
      },
    },
    protected: "Geschützte VMs",
    ofVms: "{covered} von {total}",
    allProtected: "Alle VMs werden gesichert.",
    notProtected: "Ohne Backup",
    why: "Grund",
    lastBackup: "Letztes Backup",
    reasons: {
      "no-job": "in keinem Backup-Job mit Zeitplan enthalten",
      excluded: "ausgeschlossen",
      "no-backup": "noch kein Backup",
    },
    failures: "Fehler der letzten Läufe",
    jobs: "Jobs",
    allJobs: "Jobs verwalten",
    nextRun: "Nächster Lauf",
    notScheduled: "nicht geplant",
    inTime: "in {span} ({time})",
    allRepositories: "Repositorys verwalten",
    repository: "Repository",
    state: "Zustand",
  },
  restore: {
    vmLead:
      "Jedes Backup kann ohne die anderen wiederhergestellt werden. Backups gelöschter VMs stehen auf der Seite Backup unter „Backups“.",
    listLead:
      "VMs mit Backups in den Repositorys, auch solche, die gelöscht wurden.",
    none: "Keine Backups dieser VM",
    noBackups: "Keine Backups",
    noneLead: "Backups werden von Backup-Jobs erstellt.",
    count: { one: "{n} Backup", other: "{n} Backups" },
    ofRepository: "Repository",
    allRepositories: "Alle Repositorys",
    allVms: "Alle VMs mit Backups",
    gone: "gelöschte VM",
    search: "VMs suchen",
    more: "und {n} weitere",
    vm: "VM",
    pool: "Pool",
    backups: "Backups",
    newest: "Neuestes",
    size: "Festplatten",
    state: "Zustand",
    full: "vollständig",
    incremental: "inkrementell",
    disksOf: {
      one: "{n} Festplatte mit {size}",
      other: "{n} Festplatten, {size}",
    },
    stored: "{size} gespeichert",
    skipped: {
      one: "{n} Festplatte ausgelassen",
      other: "{n} Festplatten ausgelassen",
    },
    verifications: {
      verified: "geprüft",
      damaged: "beschädigt",
      none: "noch nicht geprüft",
    },
    unreadable: "Repository: {state}",
    unreadableCount: {
      one: "{n} Backup ist nicht lesbar",
      other: "{n} Backups sind nicht lesbar",
    },
    unreadableLead:
      "Seine Backups können erst wiederhergestellt werden, wenn es wieder verwendet werden kann.",
    damagedLead:
      "Dateien, die dieses Backup braucht, sind beschädigt oder fehlen. Die Wiederherstellung schlägt fehl, wenn sie deren verlorene Teile braucht: Wählen Sie ein anderes Backup, wenn es eines gibt.",
    verifiedAt: "geprüft {age}",
    verifiedOf: "{n} von {total} geprüft",
    actions: "Aktionen für das Backup vom {time}",
    restoreOf: "Backup vom {time} wiederherstellen",
    submit: "Wiederherstellen",
    download: "Herunterladen",
    downloadIt: "Herunterladen",
    downloadOf: "Aus dem Backup von {name} herunterladen",
    format: "Format",
    formats: { vhd: "VHD", raw: "Raw", xva: "XVA" },
    formatHints: {
      vhd: "Eine Festplatte",
      raw: "Eine Festplatte, einschließlich der Nullen in unbenutzten Bereichen",
      xva: "Die VM mit allen Festplatten, für den Import in jeden Pool",
    },
    deleteQuestion: "Backup vom {name} löschen?",
    deleteLead:
      "Es wird aus {repository} gelöscht und kann nicht wiederhergestellt werden. Andere Backups brauchen es nicht.",
    deleted: "Backup gelöscht.",
    heading: "{name} wiederherstellen",
    lead: "Backup vom {time}",
    kind: "Wiederherstellen",
    kinds: {
      new: {
        name: "Als neue VM",
        hint: "Vorhandene VMs werden nicht geändert.",
      },
      over: {
        name: "Über die vorhandene VM",
        hint: "Ersetzt ihre Festplatten durch die des Backups.",
      },
      disk: {
        name: "Eine einzelne Festplatte",
        hint: "Als neue Festplatte, die keine VM verwendet.",
      },
      test: {
        name: "Nur als Test",
        hint: "Startet die VM in einem isolierten Netzwerk, wartet auf ihre Guest Tools und löscht sie.",
      },
    },
    name: "Name der neuen VM",
    diskName: "Name der neuen Festplatte",
    disk: "Festplatte",
    sr: "SR",
    srOf: "SR von {name}",
    sameSr: "wie oben",
    disks: "Festplatten",
    lacks:
      "{name} hat {size} weniger freien Platz, als die Festplatten höchstens belegen.",
    networkOf: "Netzwerk der Schnittstelle {device}",
    networkWas: "war {name}, {mac}",
    noNetwork: "keine Schnittstelle",
    unknownNetworks:
      "Die Schnittstellen konnten nicht gelesen werden: Netzwerke mit demselben Namen werden verwendet.",
    macsLabel: "MAC-Adressen",
    macs: {
      new: "Neue Adressen: Die ursprüngliche VM darf laufen",
      same: "Wie im Backup: Die ursprüngliche VM darf nicht laufen",
    },
    differential: "Nur Unterschiede schreiben",
    differentialHint:
      "Klont Snapshots der VM, die einem Backup entsprechen, und schreibt nur abweichende Blöcke.",
    start: "VM danach starten",
    mustHalt: "Fahren Sie die VM zuerst herunter.",
    overWarning:
      "Der aktuelle Inhalt der Festplatten wird gelöscht, wenn die Wiederherstellung erfolgreich war.",
    inputErrors: {
      required: "Erforderlich.",
      sr: "Wählen Sie ein SR.",
      disks: "Wählen Sie mindestens eine Festplatte.",
      typed: "Der Name stimmt nicht überein.",
    },
    test: "Test starten",
    testPassed: "Wiederherstellungstest von {name} bestanden.",
    testFailed: "Wiederherstellungstest von {name} fehlgeschlagen.",
    testedAt: "Wiederherstellungstest bestanden {age}",
    testFailedAt: "Wiederherstellungstest fehlgeschlagen {age}: {error}",
    started:
      "Wiederherstellung von {name} gestartet. Den Fortschritt zeigen die Aufgaben.",
    restored: "{name} wiederhergestellt.",
    failed: "Wiederherstellung von {name} fehlgeschlagen.",
    show: "Anzeigen",
  },
};
