import type { Messages } from "../messages.js";

export const ui: Messages["ui"] = {
  close: "Schließen",
  cancel: "Abbrechen",
  save: "Speichern",
  delete: "Löschen",
  edit: "Bearbeiten",
  undo: "Rückgängig",
  more: "Mehr",
  none: "keine",
  unknown: "nicht bekannt",
  yes: "ja",
  no: "nein",
  failed: "Das ging nicht: {reason}",
  lost: "Der Server antwortet nicht. Soweit bekannt, wurde nichts geändert.",
};
