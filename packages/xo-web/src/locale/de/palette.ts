import type { Messages } from "../messages.js";

export const palette: Messages["palette"] = {
  heading: "Suchen oder etwas tun",
  emptyHint: "Name, Adresse, Tag, Seite, Aktion…",
  whatToDo: "Was zu tun ist",
  results: "Gefunden",
  recent: "Zuletzt gesehen",
  pages: "Seiten",
  objects: "Objekte",
  minor: "Platten und Snapshots",
  actionsOn: "Was man mit {name} tun kann",
  nothing: "Nichts heißt so, und auch sonst passt nichts.",
  offline: "Der Server antwortet nicht: nur Seiten lassen sich finden.",
  count: "{n} gefunden",
  hints: {
    choose: "wählen",
    open: "öffnen",
    act: "tun",
    actions: "was man tun kann",
    back: "zurück",
    close: "schließen",
  },
};
