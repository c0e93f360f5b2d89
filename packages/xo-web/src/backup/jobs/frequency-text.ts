import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { fromCron, type Frequency } from "./frequency.js";

interface FrequencyLocalization {
  readonly texts: Messages["backup"]["jobs"];
  readonly formats: Formats;
}

/** Text of the frequency of a job: `Every Sunday at 04:00`. */
export function frequencyText(
  { kind, time, weekday, day, cron }: Readonly<Frequency>,
  { texts, formats }: FrequencyLocalization,
): string {
  const { sentences } = texts;
  return fill(sentences[kind], {
    time,
    minute: time.slice(3),
    weekday: weekdayName(weekday, formats.language),
    day: String(day),
    cron,
  });
}

/** A cron expression as text. */
export function cronText(
  cron: string,
  localization: FrequencyLocalization,
): string {
  return frequencyText(fromCron(cron), localization);
}

/** @param weekday 0: Sunday */
export function weekdayName(weekday: number, language: string): string {
  // The 4th of January 1970 was a Sunday.
  const time = (3 + weekday) * 86_400_000;
  return new Intl.DateTimeFormat(language, {
    weekday: "long",
    timeZone: "UTC",
  }).format(time);
}
