import type { Messages } from "../messages.js";

export const details: Messages["details"] = {
  tabs: "Teile dieser Seite",
  where: "Wo es ist",
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
  tryAgain: "Noch einmal",
  stale: "Zuletzt bekannt",
  gone: "Nicht vorhanden: {type}",
  goneLead:
    "Es wurde gelöscht, oder sein Pool ist nicht verbunden, oder Sie dürfen es nicht sehen.",
  toList: "Zur Liste",
  refused: "Kann nicht gezeigt werden: {type}",
  refusedLead:
    "Der Server lehnt ab: vielleicht fehlt Ihnen das Recht, es zu sehen.",
  raw: "Rohdaten",
  rawLead:
    "Was XAPI selbst über dieses Objekt sagt, wie es der Server jetzt hat. Geheimnisse sind verdeckt. Felder heißen wie in XAPI.",
  rawSearch: "Felder und Werte durchsuchen",
  rawAgain: "Neu lesen",
  rawClass: "{class}, {n} Zeilen",
  rawFailed: "Der Datensatz konnte nicht gelesen werden",
  rawField: "Feld",
  rawValue: "Wert",
  rawNothing: "Kein Feld oder Wert enthält diese Wörter.",
};
