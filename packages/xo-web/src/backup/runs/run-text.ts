import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { readRate, type BackupRun, type DiskEntry } from "../run.js";

interface RunLocalization {
  readonly texts: Messages["backup"]["runs"];
  readonly formats: Formats;
}

/** How many VMs: `3 succeeded, 1 failed`. */
export function countsText(
  { succeeded = 0, failed = 0, skipped = 0, notBegun = 0 }: BackupRun,
  { texts, formats }: RunLocalization,
): string {
  const counts = [
    [texts.succeeded, succeeded],
    [texts.failed, failed],
    [texts.skipped, skipped],
    [texts.notBegun, notBegun],
  ] as const;
  return counts
    .flatMap(([forms, n]) => (n === 0 ? [] : [formats.plural(forms, n)]))
    .join(", ");
}

/** Text of a transfer: `12 GiB read, 3 GiB stored, 110 MB/s`. */
export function transferText(
  run: Pick<BackupRun, "read" | "stored" | "start" | "end">,
  { texts, formats }: RunLocalization,
): string {
  const { read, stored } = run;
  if (read === undefined || stored === undefined) return "";
  const rate = readRate(run);
  const sizes = fill(texts.transfer, {
    read: formats.size(read),
    stored: formats.size(stored),
  });
  return rate === undefined || read === 0
    ? sizes
    : `${sizes}, ${fill(texts.rate, { rate: formats.bytes(rate) })}`;
}

/** How a disk was read, as text; a kind that this page does not know is shown as it is. */
export function sourceText(
  { source }: Pick<DiskEntry, "source">,
  { texts }: Pick<RunLocalization, "texts">,
): string {
  return Object.hasOwn(texts.sources, source)
    ? texts.sources[source as keyof typeof texts.sources]
    : source;
}
