import type { BackupJobInputError } from "./job-entries.js";
import type { ReportEntries, ReportInputErrors } from "./report-entries.js";

/** Texts of the problems of report fields. */
export function reportWords(
  {
    addresses,
    webHooks,
  }: ReportInputErrors | Record<string, BackupJobInputError>,
  words: Readonly<Record<BackupJobInputError, string>>,
): Partial<Record<keyof ReportEntries, string>> {
  return {
    ...(addresses && { addresses: words[addresses] }),
    ...(webHooks && { webHooks: words[webHooks] }),
  };
}
