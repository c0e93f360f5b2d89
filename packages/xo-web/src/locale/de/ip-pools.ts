import type { Messages } from "../en/messages.js";

export const ipPools: Messages["ipPools"] = {
  lead: "Adressen für die VMs von Ressourcen-Sets: Jede neue Schnittstelle in einem der Netzwerke erhält eine freie Adresse und darf keine andere verwenden.",
  add: "IP-Pool hinzufügen",
  edit: "IP-Pool {name}",
  none: "Keine IP-Pools",
  noneLead: "Beispiel: 10.0.1.10-10.0.1.99 für das Netzwerk eines Teams.",
  saved: "IP-Pool {name} gespeichert.",
  deleted: "IP-Pool {name} gelöscht.",
  deleteQuestion: "IP-Pool {name} löschen?",
  deleteLead: "Adressen vorhandener Schnittstellen werden nicht geändert.",
  actions: "Aktionen für {name}",
  name: "Name",
  addresses: "Adressen",
  addressesHint:
    "Eine je Zeile: eine Adresse, ein Bereich (10.0.0.10-10.0.0.99) oder ein Netz (10.0.1.0/24).",
  networks: "Netzwerke",
  used: "Belegt",
  usedOf: "{used} von {total}",
};
