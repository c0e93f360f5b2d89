import type { JobFault } from "./job-entries.js";
import type { ReportEntries, ReportFaults } from "./report-entries.js";

/** What is wrong with the fields of reports, in words. */
export function reportWords(
  { addresses, webHooks }: ReportFaults | Record<string, JobFault>,
  words: Readonly<Record<JobFault, string>>,
): Partial<Record<keyof ReportEntries, string>> {
  return {
    ...(addresses && { addresses: words[addresses] }),
    ...(webHooks && { webHooks: words[webHooks] }),
  };
}
