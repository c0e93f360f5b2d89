import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { selectionOf, type BackupJob } from "../job.js";

/** Which VMs a job is about, in words. */
export function selectionWords(
  job: Pick<BackupJob, "vms" | "filter" | "pattern">,
  {
    words,
    formats,
  }: {
    readonly words: Messages["backup"]["jobs"];
    readonly formats: Formats;
  },
): string {
  switch (selectionOf(job)) {
    case "all":
      return words.allVms;
    case "filter":
      return fill(words.matchingFilter, { filter: job.filter ?? "" });
    case "pattern":
      return words.selections.pattern.name;
    case "vms":
      return formats.plural(words.chosen, job.vms?.length ?? 0);
  }
}
