import { weekdays, type Windows } from "../details/pool/windows.js";
import { fill, type Messages } from "../locale/messages.js";

/** Maintenance windows, a line for each: `Sat, Sun 22:00–05:00 (Europe/Vienna)`. */
export function windowText(
  windows: Windows | undefined,
  {
    texts,
    every,
    language,
  }: {
    readonly texts: Messages["poolUpdates"]["jobs"];
    /** Name of the time zone of the server. */
    readonly every: string;
    readonly language: string;
  },
): readonly string[] {
  if (windows === undefined || windows.ranges.length === 0)
    return [texts.anyTime];
  const format = new Intl.DateTimeFormat(language, {
    weekday: "short",
    timeZone: "UTC",
  });
  // 2026-11-22 is a Sunday.
  const nameOf = (day: string) =>
    format.format(
      Date.UTC(2026, 10, 22 + (weekdays as readonly string[]).indexOf(day)),
    );
  return windows.ranges.map(({ from, to, days = [] }) =>
    fill(texts.window, {
      days: days.length === 0 ? texts.everyDay : days.map(nameOf).join(", "),
      from,
      to,
      zone: windows.timezone ?? every,
    }),
  );
}
