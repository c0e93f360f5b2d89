import type { Messages } from "../en/messages.js";

export const sshKeys: Messages["sshKeys"] = {
  heading: "SSH-Schlüssel",
  lead: "Öffentliche Schlüssel, die beim Erstellen von VMs mit cloud-init angeboten werden. Sie sind bei Ihrem Konto gespeichert.",
  add: "SSH-Schlüssel hinzufügen",
  key: "Öffentlicher Schlüssel",
  keyHint: "Eine Zeile, der Inhalt einer Datei wie ~/.ssh/id_ed25519.pub.",
  title: "Titel",
  type: "Typ",
  comment: "Kommentar",
  remove: "SSH-Schlüssel {title} löschen",
  removeQuestion: "SSH-Schlüssel {title} löschen?",
  removeLead:
    "Er wird beim Erstellen von VMs nicht mehr angeboten. VMs, die ihn haben, behalten ihn.",
  inputErrors: {
    required: "Erforderlich.",
    private:
      "Das ist ein privater Schlüssel. Verwenden Sie die Datei, die auf .pub endet.",
    line: "Der Schlüssel muss eine Zeile sein.",
    format: "Kein öffentlicher Schlüssel im Format von OpenSSH.",
    title: "Ein anderer Schlüssel hat diesen Titel.",
  },
};
