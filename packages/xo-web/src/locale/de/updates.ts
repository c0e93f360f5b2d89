import type { Messages } from "../en/messages.js";

export const updates: Messages["updates"] = {
  rolling: "Rollierendes Update",
  hosts: "Updates der Hosts",
  timeLine: "Hosts im Zeitverlauf",
  bar: "Schritt {wave}: {host}, {moves} Migrationen in diesem Schritt",
  evacuation: "Evakuierung",
  down: "Update und Neustart",
  planning: "Wird geplant…",
  nothing: "Alle Updates sind installiert.",
  summary:
    "{hosts} Hosts in {waves} Schritten, {moves} Migrationen, etwa {length}.",
  lead: "Hosts werden evakuiert, aktualisiert und neu gestartet, der Koordinator zuerst. VMs werden auf aktualisierte Hosts migriert. Der erste Fehler hält das rollierende Update an; es kann fortgesetzt werden.",
  rebootLead:
    "Hosts werden evakuiert und neu gestartet, der Koordinator zuerst. Der erste Fehler hält den rollierenden Neustart an; er kann fortgesetzt werden.",
  migrateBack: "VMs am Ende zurückmigrieren",
  risks: {
    "no-failure-survived":
      "Größtes Risiko: Schritt {wave}. Fällt dabei ein weiterer Host aus, können nicht alle VMs neu gestartet werden.",
    coordinator:
      "Größtes Risiko: Schritt {wave}. Während der Koordinator neu startet, kann der Pool nicht verwaltet werden.",
    "most-moves": "Größtes Risiko: Schritt {wave} mit den meisten Migrationen.",
  },
  running: "Läuft: {done} von {hosts} Hosts abgeschlossen.",
  suspending:
    "Läuft, wird nach diesem Schritt ausgesetzt: {done} von {hosts} Hosts abgeschlossen.",
  suspended:
    "Ausgesetzt: {done} von {hosts} Hosts abgeschlossen. HA ist wiederhergestellt.",
  waiting:
    "Ausgesetzt bis zum Wartungsfenster {time}: {done} von {hosts} Hosts abgeschlossen.",
  actions: {
    suspend: "Aussetzen",
    continue: "Fortsetzen",
    cancel: "Rollierendes Update abbrechen",
    abandon: "Rollierendes Update aufgeben",
  },
  begins: "Der erste Schritt beginnt {first}, der letzte {last}.",
  windows: {
    only: "Nur in einem Wartungsfenster",
    hint: "Ein Schritt, der nicht darin enden würde, beginnt im nächsten.",
    name: "Wartungsfenster",
    from: "Von",
    to: "Bis",
    timezone: "Zeitzone",
    days: "Tage, an denen es beginnt",
    daysHint: "Keiner ausgewählt: jeden Tag.",
    nameOf: "Wartungsfenster {n}",
    add: "Wartungsfenster hinzufügen",
    remove: "Wartungsfenster {n} entfernen",
    removeShort: "Entfernen",
  },
  stopped:
    "Angehalten nach {done} von {hosts} Hosts: {reason}. Zum Fortsetzen erneut starten.",
  last: "Letzter Lauf {ago}: {done} von {hosts} Hosts in {length}.",
  never: "Noch kein rollierendes Update und kein rollierender Neustart.",
  differ: "Die Hosts haben verschiedene Versionen.",
  columns: {
    host: "Host",
    version: "Version",
    missing: "Fehlende Updates",
    security: "Sicherheitsupdates",
    after: "Danach erforderlich",
    advisories: "Sicherheitsmeldungen",
  },
  after: {
    nothing: "nichts",
    "restart-toolstack": "Neustart des Toolstacks",
    "restart-device-model": "Migration oder Neustart der VMs",
    "reboot-vm": "Neustart der VMs",
    "reboot-host": "Neustart des Hosts",
  },
};
