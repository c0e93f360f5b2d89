import type { Messages } from "../en/messages.js";

export const health: Messages["health"] = {
  pool: "Pool",
  allPools: "Alle Pools",
  read: "Geprüft {age}",
  again: "Erneut prüfen",
  none: "Keine Probleme gefunden",
  noneLead: "Alle Prüfungen bestanden.",
  passed: { one: "{n} Prüfung bestanden", other: "{n} Prüfungen bestanden" },
  unknown: "nicht geprüft: {n}",
  showList: "In der Liste anzeigen",
  showAll: "{n} anzeigen",
  showFewer: "Weniger anzeigen",
  more: "und {n} weitere",
  severities: { error: "Fehler", warning: "Warnung", info: "Hinweis" },
  columns: { object: "Objekt", pool: "Pool", detail: "Einzelheiten" },
  sizes: "{size}, {usage} belegt",
  used: "{share} von {size} belegt",
  hosts: { one: "{n} Host", other: "{n} Hosts" },
  images: { one: "{n} Image", other: "{n} Images" },
  others: {
    one: "auch an {n} weiteren VM",
    other: "auch an {n} weiteren VMs",
  },
  expires: "läuft in {time} ab",
  expired: "abgelaufen {age}",
  guidances: {
    restart_vm: "braucht einen Neustart",
    restart_device_model: "braucht ein neues Device Model",
  },
  ahead: "geht {time} vor",
  behind: "geht {time} nach",
  checks: {
    fullStorage: {
      name: "Speicher fast voll",
      advice:
        "Über 90 % des SR sind belegt. Ist ein SR voll, halten seine VMs mit E/A-Fehlern an, und Snapshots können nicht zusammengeführt werden. Löschen oder verschieben Sie Festplatten, oder erweitern Sie das SR.",
    },
    detachedStorage: {
      name: "Von Hosts getrennte SRs",
      advice:
        "VMs mit Festplatten auf diesem SR können auf diesen Hosts nicht laufen, und HA kann sie dort nicht neu starten. Prüfen Sie Verkabelung und Speicherserver, und verbinden Sie das SR auf seiner Registerkarte „Hosts“ erneut.",
    },
    missingDisks: {
      name: "Auf dem Speicher fehlende Festplatten",
      advice:
        "XAPI kennt die Festplatte, aber der Speicher hat sie nicht. Lesen Sie das SR neu ein; ist die Festplatte verloren, stellen Sie sie aus einem Backup wieder her.",
    },
    controlDomainDisks: {
      name: "An Control Domains angeschlossene Festplatten",
      advice:
        "Backups und Exporte schließen Festplatten kurzzeitig an die Control Domain an. Bleibt eine dort, kann ihre VM weder gestartet noch gelöscht werden. Trennen Sie sie, wenn kein Export und kein Backup läuft.",
    },
    longChains: {
      name: "Lange Ketten von Images",
      advice:
        "Jeder Lesezugriff kann durch alle Images der Kette gehen, und ab 30 lehnt XAPI Snapshots ab. Löschen Sie nicht benötigte Snapshots, und lassen Sie das SR die Images zusammenführen (SR neu einlesen).",
    },
    orphanDisks: {
      name: "Festplatten ohne VM",
      advice:
        "Keine VM, keine Vorlage und kein Snapshot verwendet diese Festplatten. Löschen Sie sie, wenn niemand ihre Daten braucht.",
    },
    orphanDiskSnapshots: {
      name: "Snapshots gelöschter Festplatten",
      advice:
        "Die Festplatte des Snapshots gibt es nicht mehr, und kein VM-Snapshot enthält ihn. Löschen Sie ihn, wenn niemand seine Daten braucht.",
    },
    duplicateMacs: {
      name: "Doppelte MAC-Adressen",
      advice:
        "VMs mit derselben MAC-Adresse in einem Netzwerk verlieren Pakete. Geben Sie einer davon eine neue VIF. Die Ursache ist meist eine Wiederherstellung oder Kopie mit den alten Adressen.",
    },
    noGuestTools: {
      name: "Laufende VMs ohne Guest Tools",
      advice:
        "Ohne den Management-Agenten sind IP-Adressen und Arbeitsspeicherauslastung unbekannt, und Herunterfahren oder Migration können fehlschlagen. Installieren Sie die Guest Tools.",
    },
    oldSnapshots: {
      name: "Snapshots, die älter als 30 Tage sind",
      advice:
        "Snapshots belegen Platz, der mit jedem Schreibvorgang der VM wächst, und verlängern Ketten. Sie sind keine Backups: Löschen Sie nicht benötigte.",
    },
    orphanVmSnapshots: {
      name: "Snapshots gelöschter VMs",
      advice:
        "Die VM des Snapshots gibt es nicht mehr. Erstellen Sie daraus eine VM, oder löschen Sie ihn.",
    },
    expiringCertificates: {
      name: "Ablaufende Zertifikate",
      advice:
        "Das TLS-Zertifikat des Hosts läuft innerhalb von 30 Tagen ab. Danach schlagen Migrationen und Verbindungen, die es prüfen, fehl. Installieren oder erneuern Sie das Zertifikat.",
    },
    clockOffsets: {
      name: "Abweichende Uhren",
      advice:
        "Die Uhr des Hosts weicht um mehr als zwei Sekunden von der dieses Servers ab. Protokolle lassen sich nicht vergleichen, HA und TLS können fehlschlagen. Richten Sie NTP auf dem Host ein.",
    },
    hostVersions: {
      name: "Hosts verschiedener Versionen",
      advice:
        "Die Hosts eines Pools sollten dieselbe Version haben, außer während eines Updates: VMs können nicht auf ältere Hosts migrieren. Aktualisieren Sie die übrigen.",
    },
    restartRequired: {
      name: "Hosts, die einen Neustart brauchen",
      advice:
        "Updates sind installiert, aber erst nach einem Neustart des Hosts aktiv. Verwenden Sie den rollierenden Neustart des Pools.",
    },
    toolstackRestartRequired: {
      name: "Hosts, deren Toolstack einen Neustart braucht",
      advice:
        "Updates sind installiert, aber erst nach einem Neustart des Toolstacks aktiv. VMs laufen dabei weiter.",
    },
    vmRestartRequired: {
      name: "VMs, die für Updates einen Neustart brauchen",
      advice:
        "Updates ihres Hosts sind in diesen VMs noch nicht aktiv. Für ein neues Device Model genügt eine Migration auf einen anderen Host und zurück; sonst starten Sie die VM neu.",
    },
  },
};
