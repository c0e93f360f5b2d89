import type { Messages } from "../en/messages.js";

export const settingsCluster: Pick<Messages["settings"], "cluster"> = {
  cluster: {
    lead: "Server mit derselben Datenbank. Jeder bedient alle Pools; ein Job, die Lastverteilung eines Pools oder eine Aufgabe läuft auf einem von ihnen.",
    name: "Name",
    thisServer: "dieser Server",
    address: "Adresse",
    unknown: "unbekannt",
    version: "Version",
    since: "Gestartet",
    lastHeartbeat: "Letzter Heartbeat",
    ownedLeases: "Leases",
    leases: { one: "{n} Lease", other: "{n} Leases" },
    states: { running: "läuft", leaving: "übergibt", lost: "ausgefallen" },
    handOver: "Übergeben",
    handOverNamed: "Leases von {name} übergeben",
    handOverQuestion: "Leases von {name} übergeben?",
    handOverLead:
      "Andere Server übernehmen Jobs, Lastverteilung und Wartung. Der Server bedient weiter seine Clients, führt seine Aufgaben zu Ende und übernimmt bis zu seinem nächsten Start keine Leases.",
    handedOver:
      "{name} übergibt: {moved} Leases übergeben, {remaining} ausstehend.",
    remove: "Entfernen",
    removeNamed: "{name} entfernen",
    removeQuestion: "Diesen Server aus der Liste entfernen?",
    removeLead:
      "Der Server antwortet nicht. Sobald er gestartet wird, ist er wieder in der Liste.",
    removed: "{name} entfernt.",
  },
};
