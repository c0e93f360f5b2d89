import type { Messages } from "../en/messages.js";

export const ui: Messages["ui"] = {
  close: "Schließen",
  cancel: "Abbrechen",
  retry: "Wiederholen",
  save: "Speichern",
  delete: "Löschen",
  edit: "Bearbeiten",
  undo: "Rückgängig",
  more: "Mehr",
  none: "keine",
  unknown: "unbekannt",
  yes: "ja",
  no: "nein",
  failed: "Anfrage fehlgeschlagen: {reason}",
  lost: "Der Server antwortet nicht. Die Anfrage wurde möglicherweise nicht ausgeführt.",
};
