import type { Messages } from "../en/messages.js";

export const keyboard: Messages["keyboard"] = {
  heading: "Tastenkombinationen",
  lead: "In Textfeldern und Konsolen sind Tastenkombinationen deaktiviert.",
  help: "Tastenkombinationen anzeigen",
  search: "Suchen",
  palette: "Suche und Aktionen",
  go: "Zu: {page}",
  groups: {
    page: "Auf dieser Seite",
    everywhere: "Überall",
    go: "Gehe zu",
  },
  then: "{first}, dann {second}",
  shift: "Umschalt",
  control: "Strg",
  enter: "Eingabe",
  escape: "Esc",
  singleKeys: "Einzeltasten aktivieren (ohne Strg)",
  singleKeysHint:
    "Bei Spracheingabe oder gegen versehentliche Tastendrücke deaktivieren. In diesem Browser gespeichert.",
};
