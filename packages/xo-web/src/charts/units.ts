import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { ChartUnit } from "./metrics.js";

/** A figure with its unit, short enough for an axis. */
export function inUnit(
  value: number,
  unit: ChartUnit,
  { formats, text }: { formats: Formats; text: Messages },
): string {
  switch (unit) {
    case "percent":
      return formats.share(value / 100);
    case "bytes":
      return formats.size(value);
    case "bytesPerSecond":
      return fill(text.charts.perSecond, { n: formats.bytes(value) });
    case "perSecond":
      return fill(text.charts.perSecond, { n: formats.rate(value) });
    case "milliseconds":
      return formats.milliseconds(value);
    case "number":
      return formats.number(value);
  }
}

/** Minimum upper end of an axis, so that small values look small. */
export const floorOf: Readonly<Record<ChartUnit, number>> = {
  percent: 10,
  bytes: 1e6,
  bytesPerSecond: 1e4,
  perSecond: 10,
  milliseconds: 1,
  number: 1,
};

/** Label of a time on an axis, by its total length in s. */
export function timeLabel(s: number, span: number, language: string): string {
  const at = new Date(s * 1000);
  if (span <= 2 * 3600 + 60)
    return at.toLocaleTimeString(language, {
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      ...(span <= 300 ? ({ second: "2-digit" } as const) : {}),
    });
  if (span <= 3 * 86_400)
    return at.toLocaleString(language, {
      weekday: "short",
      hour: "2-digit",
      hourCycle: "h23",
      minute: "2-digit",
    });
  return at.toLocaleDateString(
    language,
    span <= 40 * 86_400
      ? { weekday: "short", day: "numeric" }
      : { month: "short", day: "numeric" },
  );
}
