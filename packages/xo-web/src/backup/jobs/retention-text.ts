import type { Formats } from "../../locale/formats.js";
import type { Messages } from "../../locale/messages.js";
import { retentionRules, type RetentionCounts } from "../job.js";

/** How many backups are kept: `latest 3, 7 days, 4 weeks`. */
export function retentionText(
  retention: RetentionCounts,
  {
    texts,
    formats,
  }: {
    readonly texts: Messages["backup"]["jobs"];
    readonly formats: Formats;
  },
): string {
  return retentionRules
    .flatMap((rule) => {
      const count = retention[rule] ?? 0;
      return count === 0 ? [] : [formats.plural(texts.keeps[rule], count)];
    })
    .join(", ");
}
