import type { BackupJobFault } from "./job-entries.js";
import type { ReportEntries, ReportFaults } from "./report-entries.js";

/** What is wrong with the fields of reports, in words. */
export function reportWords(
  { addresses, webHooks }: ReportFaults | Record<string, BackupJobFault>,
  words: Readonly<Record<BackupJobFault, string>>,
): Partial<Record<keyof ReportEntries, string>> {
  return {
    ...(addresses && { addresses: words[addresses] }),
    ...(webHooks && { webHooks: words[webHooks] }),
  };
}
