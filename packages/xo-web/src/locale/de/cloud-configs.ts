import type { Messages } from "../en/messages.js";

export const cloudConfigs: Messages["cloudConfigs"] = {
  lead: "Vorlagen für cloud-init: Konten, SSH-Schlüssel, Pakete und Netzwerke neuer VMs. Benutzer, die VMs erstellen dürfen, können sie im Formular für neue VMs auswählen.",
  add: "Cloud-Config hinzufügen",
  edit: "Cloud-Config {name}",
  none: "Keine Cloud-Configs",
  noneLead: "Beispiel: die SSH-Schlüssel eines Teams.",
  saved: "Cloud-Config {name} gespeichert.",
  deleted: "Cloud-Config {name} gelöscht.",
  deleteQuestion: "Cloud-Config {name} löschen?",
  deleteLead: "Damit erstellte VMs werden nicht geändert.",
  actions: "Aktionen für {name}",
  copy: "Kopieren…",
  copyOf: "{name} (Kopie)",
  name: "Name",
  kind: "Typ",
  kinds: { user: "Benutzerdaten", network: "Netzwerkkonfiguration" },
  lines: "Zeilen",
  template: "Vorlage",
  templateHint:
    "YAML. {name} und {index} werden durch Name und Index der VM ersetzt. Wird verschlüsselt gespeichert.",
  noHeader:
    "Benutzerdaten müssen mit #cloud-config oder einem anderen bekannten Kopf beginnen.",
};
