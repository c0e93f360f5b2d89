import type { Messages } from "../en/messages.js";

export const backupErrors: Messages["backup"]["errors"] = {
  NO_VM_MATCHES: "Keine VM entspricht der Auswahl des Jobs.",
  BACKUP_REPOSITORY_UNREACHABLE:
    "Das Repository {repository} ist nicht erreichbar: {reason}",
  BACKUP_REPOSITORY_READ_ONLY:
    "Das Repository {repository} ist schreibgeschützt: {reason}",
  BACKUP_REPOSITORY_FULL: "Das Repository {repository} ist voll: {reason}",
  BACKUP_REPOSITORY_KEY_WRONG:
    "Das Repository {repository} kann nicht geöffnet werden: {reason}",
  BACKUP_REPOSITORY_OLDER:
    "Das Repository {repository} ist älter als zuvor: {reason}",
  BACKUP_REPOSITORY_DAMAGED:
    "Das Repository {repository} ist beschädigt: {reason}",
  BACKUP_REPOSITORY_REFUSED: "Repository {repository}: {reason}",
  BACKUP_REPOSITORY_CHANGED:
    "Das Repository {repository} wurde inzwischen geändert: {reason}",
  BACKUP_REPOSITORY_DISABLED: "Das Repository {repository} ist deaktiviert.",
  BACKUP_TRANSFER_FAILED:
    "Die Übertragung zwischen Pool und Repository ist fehlgeschlagen: {reason}",
  BACKUP_REFUSED: "Die VM {vm} kann nicht gesichert werden: {reason}",
  FILE_SYSTEM_UNSUPPORTED:
    "Das Dateisystem kann nicht gelesen werden: {reason}",
  FILE_SYSTEM_DAMAGED: "Das Dateisystem ist beschädigt: {reason}",
  NO_SUCH_FILE: "Datei nicht gefunden: {reason}",
  TOO_MANY_FILES: "Zu viele Dateien: {reason}",
  BACKUP_WORKER_FAILED: "Der Backup-Prozess ist fehlgeschlagen: {reason}",
};
