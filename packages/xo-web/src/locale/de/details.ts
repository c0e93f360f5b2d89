import type { Messages } from "../en/messages.js";

export const details: Messages["details"] = {
  tabs: "Bereiche dieser Seite",
  where: "Ort",
  name: "Name",
  description: "Beschreibung",
  noDescription: "Beschreibung hinzufügen",
  tags: "Tags",
  addTag: "Tag",
  newTag: "Neuer Tag",
  removeTag: "Tag {tag} entfernen",
  edit: "{what}: {value}. Bearbeiten",
  changed: "{what} geändert",
  notChanged: "{what} wurde nicht geändert",
  tryAgain: "Erneut versuchen",
  moreTags: "{n} weitere",
  fewerTags: "Weniger anzeigen",
  stale: "Letzter bekannter Stand",
  gone: "Nicht vorhanden: {type}",
  deletedLead:
    "Das Objekt wurde gelöscht, sein Pool ist getrennt, oder Sie haben keine Berechtigung, es zu sehen.",
  toList: "Zur Liste",
  refused: "Kann nicht angezeigt werden: {type}",
  refusedLead:
    "Die Anfrage wurde abgelehnt. Vielleicht haben Sie keine Berechtigung, das Objekt zu sehen.",
  raw: "XAPI-Datensatz",
  rawLead:
    "Der XAPI-Datensatz dieses Objekts mit den Feldnamen von XAPI. Geheimnisse sind maskiert.",
  rawSearch: "Felder und Werte durchsuchen",
  reloadRaw: "Neu laden",
  rawClass: "{class}, {n} Zeilen",
  rawFailed: "Der Datensatz konnte nicht geladen werden",
  rawField: "Feld",
  rawValue: "Wert",
  rawNoMatches: "Keine passenden Felder oder Werte.",
};
