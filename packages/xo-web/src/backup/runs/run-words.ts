import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { readRate, type BackupRun, type DiskEntry } from "../run.js";

export interface RunWording {
  readonly words: Messages["backup"]["runs"];
  readonly formats: Formats;
}

/** How many VMs: `3 succeeded, 1 failed`. */
export function countsText(
  { succeeded = 0, failed = 0, skipped = 0, notBegun = 0 }: BackupRun,
  { words, formats }: RunWording,
): string {
  const counts = [
    [words.succeeded, succeeded],
    [words.failed, failed],
    [words.skipped, skipped],
    [words.notBegun, notBegun],
  ] as const;
  return counts
    .flatMap(([forms, n]) => (n === 0 ? [] : [formats.plural(forms, n)]))
    .join(", ");
}

/** Text of a transfer: `12 GiB read, 3 GiB stored, 110 MB/s`. */
export function transferText(
  run: Pick<BackupRun, "read" | "stored" | "start" | "end">,
  { words, formats }: RunWording,
): string {
  const { read, stored } = run;
  if (read === undefined || stored === undefined) return "";
  const rate = readRate(run);
  const sizes = fill(words.transfer, {
    read: formats.size(read),
    stored: formats.size(stored),
  });
  return rate === undefined || read === 0
    ? sizes
    : `${sizes}, ${fill(words.rate, { rate: formats.bytes(rate) })}`;
}

/** How a disk was read, in words; a kind that this page does not know is shown as it is. */
export function sourceText(
  { source }: Pick<DiskEntry, "source">,
  { words }: Pick<RunWording, "words">,
): string {
  return Object.hasOwn(words.sources, source)
    ? words.sources[source as keyof typeof words.sources]
    : source;
}
