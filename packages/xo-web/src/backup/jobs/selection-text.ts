import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { selectionOf, type BackupJob } from "../job.js";

/** Which VMs a job selects, as text. */
export function selectionText(
  job: Pick<BackupJob, "vms" | "filter" | "pattern">,
  {
    texts,
    formats,
  }: {
    readonly texts: Messages["backup"]["jobs"];
    readonly formats: Formats;
  },
): string {
  switch (selectionOf(job)) {
    case "all":
      return texts.allVms;
    case "filter":
      return fill(texts.matchingFilter, { filter: job.filter ?? "" });
    case "pattern":
      return texts.selections.pattern.name;
    case "vms":
      return formats.plural(texts.chosen, job.vms?.length ?? 0);
  }
}
