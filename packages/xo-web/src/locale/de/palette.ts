import type { Messages } from "../en/messages.js";

export const palette: Messages["palette"] = {
  heading: "Suche und Aktionen",
  emptyHint: "Name, Adresse, Tag, Seite, Aktion…",
  whatToDo: "Aktionen",
  results: "Ergebnisse",
  recent: "Zuletzt geöffnet",
  pages: "Seiten",
  objects: "Objekte",
  minor: "Festplatten und Snapshots",
  actionsOn: "Aktionen für {name}",
  nothing: "Keine Ergebnisse.",
  offline: "Der Server antwortet nicht: Nur Seiten können gesucht werden.",
  count: "{n} Ergebnisse",
  hints: {
    choose: "auswählen",
    open: "öffnen",
    act: "ausführen",
    actions: "Aktionen",
    back: "zurück",
    close: "schließen",
  },
};
