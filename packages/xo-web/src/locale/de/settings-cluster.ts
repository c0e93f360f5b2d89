import type { Messages } from "../en/messages.js";

export const settingsCluster: Pick<Messages["settings"], "cluster"> = {
  cluster: {
    lead: "Server mit derselben Datenbank. Jeder bedient alle Pools; ein Job, die Lastverteilung eines Pools oder eine Aufgabe läuft auf einem von ihnen.",
    name: "Name",
    address: "Adresse",
    unknown: "unbekannt",
    version: "Version",
    since: "Gestartet",
    seen: "Letzter Heartbeat",
    owns: "Zuständig für",
    leases: { one: "{n} Lease", other: "{n} Leases" },
    states: { running: "läuft", leaving: "scheidet aus", lost: "ausgefallen" },
    handOver: "Übergeben",
    handOverThis: "Übergeben, wofür {name} zuständig ist",
    handOverAsk: "Übergeben, wofür {name} zuständig ist?",
    handOverLead:
      "Andere Server übernehmen Jobs, Lastverteilung und Wartung. Er bedient seine Clients, beendet seine Aufgaben und übernimmt bis zu seinem nächsten Start keine Leases.",
    handedOver: "{name} übergibt: {moved} übergeben, {remaining} folgen.",
    remove: "Entfernen",
    removeThis: "{name} entfernen",
    removeAsk: "Diesen Server aus der Liste entfernen?",
    removeLead:
      "Er antwortet nicht. Sobald er gestartet wird, ist er wieder in der Liste.",
    removed: "{name} entfernt.",
  },
};
