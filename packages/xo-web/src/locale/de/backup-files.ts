import type { Messages } from "../en/messages.js";

export const backupFiles: Messages["backup"]["files"] = {
  action: "Dateien wiederherstellen…",
  heading: "Dateien von {name} wiederherstellen",
  disk: "Disk",
  partition: "Partition",
  notReadable: "{name}: {reason}",
  path: "Ordner",
  root: "/",
  list: "Dateien",
  choose: "{name} auswählen",
  special: "Gerät oder Socket, wird nicht wiederhergestellt",
  empty: "Dieser Ordner ist leer.",
  noPartition: "Auf dieser Disk wurde keine Partition gefunden.",
  wasInUse:
    "Das Dateisystem war während des Backups in Benutzung. Änderungen der letzten Sekunden davor können fehlen.",
  shown: "{n} von {total} Einträgen",
  more: "Weitere laden",
  format: "Archiv",
  formats: { zip: "ZIP", tgz: "tar.gz, mit Zugriffsrechten" },
  download: "Herunterladen",
  downloadOf: {
    one: "{n} Eintrag herunterladen",
    other: "{n} Einträge herunterladen",
  },
};
