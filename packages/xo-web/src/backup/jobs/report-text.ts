import type { BackupJobInputError } from "./job-entries.js";
import type { ReportEntries, ReportInputErrors } from "./report-entries.js";

/** Texts of the problems of report fields. */
export function reportText(
  {
    addresses,
    webHooks,
  }: ReportInputErrors | Record<string, BackupJobInputError>,
  texts: Readonly<Record<BackupJobInputError, string>>,
): Partial<Record<keyof ReportEntries, string>> {
  return {
    ...(addresses && { addresses: texts[addresses] }),
    ...(webHooks && { webHooks: texts[webHooks] }),
  };
}
