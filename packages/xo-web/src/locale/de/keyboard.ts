import type { Messages } from "../messages.js";

export const keyboard: Messages["keyboard"] = {
  heading: "Tastatur",
  lead: "Was Tasten hier und jetzt tun. Nicht, während Sie schreiben, und nicht in einer Konsole.",
  help: "Diese Hilfe",
  search: "Suchen",
  palette: "Suchen oder etwas tun, überall",
  go: "Zu: {page}",
  groups: {
    page: "Auf dieser Seite",
    everywhere: "Überall",
    go: "Gehe zu",
  },
  then: "{first}, dann {second}",
  control: "Strg",
  enter: "Eingabe",
  escape: "Esc",
  singleKeys: "Tasten ohne Strg tun etwas",
  singleKeysHint:
    "Schalten Sie das ab, wenn Sie mit Ihrem Rechner sprechen oder versehentlich Tasten drücken. Dieser Browser merkt es sich.",
};
