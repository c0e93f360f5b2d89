import type { Messages } from "../en/messages.js";

export const poolUpdates: Messages["poolUpdates"] = {
  pools: "Updates der Pools",
  poolsLead:
    "Fehlende Updates des Hosts, dem die meisten fehlen; Hosts werden alle sechs Stunden abgefragt. Die Seite eines Pools listet sie auf und plant sein rollierendes Update.",
  pool: "Pool",
  versions: "Version",
  differ: "verschiedene Versionen",
  jobs: {
    heading: "Gruppen von Pools",
    lead: "Jobs, die Pools zu den Zeiten ihrer Zeitpläne aktualisieren: eine Gruppe nach der anderen, in Wartungsfenstern.",
    add: "Rollierendes Update hinzufügen",
    edit: "Rollierendes Update {name}",
    dialogLead:
      "Alle Hosts jedes Pools werden aktualisiert und neu gestartet, während die VMs laufen. Der erste Fehler in einer Gruppe verhindert die nächste Gruppe.",
    none: "Keine geplanten rollierenden Updates",
    noneLead:
      "Beispiel: jeden zweiten Dienstag, zuerst der Testpool, dann alle anderen.",
    saved: "Rollierendes Update {name} gespeichert.",
    deleted: "Rollierendes Update {name} gelöscht.",
    deleteQuestion: "Rollierendes Update {name} löschen?",
    deleteLead:
      "Seine Zeitpläne werden gelöscht. Ein laufender Job wird fortgesetzt.",
    started: "Rollierendes Update {name} gestartet.",
    groups: "Gruppen von Pools",
    groupsHint:
      "Die Pools einer Gruppe werden gleichzeitig aktualisiert. Eine Gruppe beginnt, wenn alle Pools der vorigen aktualisiert sind.",
    group: "Gruppe {n}",
    noGroup: "nicht aktualisieren",
    searchPools: "Pools suchen",
    poolCount: { one: "{n} Pool", other: "{n} Pools" },
    groupCount: { one: "{n} Gruppe", other: "{n} Gruppen" },
    parallel: "Gleichzeitige Hosts eines Pools",
    parallelHint: "Höchstens; 1 bis 64. Leer: ein Viertel.",
    concurrency: "Gleichzeitige Pools",
    concurrencyHint: "Höchstens; 1 bis 32. Leer: 4.",
    anyTime: "jederzeit",
    everyDay: "täglich",
    window: "{days} {from}–{to} ({zone})",
    hosts: "{done} von {hosts} Hosts",
    until: "bis {time}",
    states: {
      notRun: "nie aktualisiert",
      waiting: "wartet",
      running: "läuft",
      suspended: "ausgesetzt",
      stopped: "angehalten",
      done: "aktualisiert",
      failed: "fehlgeschlagen",
      notBegun: "nicht gestartet",
    },
    inputErrors: {
      required: "Erforderlich.",
      pools: "Mindestens ein Pool muss in einer Gruppe sein.",
      number: "Zahl außerhalb des Bereichs.",
    },
  },
};
