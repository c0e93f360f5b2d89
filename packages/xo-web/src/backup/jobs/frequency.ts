/** When a job runs, as a form has it. */
export interface Frequency {
  kind:
    | "manual"
    | "hourly"
    | "daily"
    | "workdays"
    | "weekly"
    | "monthly"
    | "custom";
  /** `22:30`; of hourly runs only the minutes count. */
  time: string;
  /** 0: Sunday. */
  weekday: number;
  /** Day of the month. */
  day: number;
  /** A cron expression; only for `custom`. */
  cron: string;
}

export const frequencyKinds = [
  "daily",
  "workdays",
  "weekly",
  "monthly",
  "hourly",
  "custom",
  "manual",
] as const satisfies readonly Frequency["kind"][];

export const newFrequency: Readonly<Frequency> = {
  kind: "daily",
  time: "22:30",
  weekday: 0,
  day: 1,
  cron: "30 22 * * *",
};

/** @returns undefined: no schedule, or the time is not complete */
export function toCron(frequency: Readonly<Frequency>): string | undefined {
  const { kind, time, weekday, day, cron } = frequency;
  if (kind === "manual") return undefined;
  if (kind === "custom") return cron.trim() || undefined;
  const match = /^(\d\d):(\d\d)$/.exec(time);
  if (match === null) return undefined;
  const [hour, minute] = [Number(match[1]), Number(match[2])];
  switch (kind) {
    case "hourly":
      return `${minute} * * * *`;
    case "daily":
      return `${minute} ${hour} * * *`;
    case "workdays":
      return `${minute} ${hour} * * 1-5`;
    case "weekly":
      return `${minute} ${hour} * * ${weekday}`;
    case "monthly":
      return `${minute} ${hour} ${day} * *`;
  }
}

const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** The frequency of a cron expression; `custom` if the form has no fields for it. */
export function fromCron(cron: string): Frequency {
  const base = { ...newFrequency, cron };
  const fields = cron.trim().toUpperCase().split(/\s+/);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const isPlain = (field: string) => /^\d{1,2}$/.test(field);
  if (fields.length !== 5 || month !== "*" || !isPlain(minute))
    return { ...base, kind: "custom" };
  const two = (field: string) => field.padStart(2, "0");
  const isAnyDay = day === "*" && weekday === "*";
  if (hour === "*" && isAnyDay)
    return { ...base, kind: "hourly", time: `00:${two(minute)}` };
  if (!isPlain(hour)) return { ...base, kind: "custom" };
  const at = { ...base, time: `${two(hour)}:${two(minute)}` };
  if (isAnyDay) return { ...at, kind: "daily" };
  if (day === "*" && (weekday === "1-5" || weekday === "MON-FRI"))
    return { ...at, kind: "workdays" };
  const named = weekdays.indexOf(weekday);
  const number =
    named >= 0 ? named : /^[0-7]$/.test(weekday) ? Number(weekday) % 7 : -1;
  if (day === "*" && number >= 0)
    return { ...at, kind: "weekly", weekday: number };
  if (weekday === "*" && isPlain(day))
    return { ...at, kind: "monthly", day: Number(day) };
  return { ...base, kind: "custom" };
}

/** Milliseconds between two runs, about. */
export function intervalOf({ kind }: Pick<Frequency, "kind">): number {
  const hour = 3_600_000;
  switch (kind) {
    case "hourly":
      return hour;
    case "weekly":
      return 7 * 24 * hour;
    case "monthly":
      return 30 * 24 * hour;
    case "daily":
    case "workdays":
    case "custom":
    case "manual":
      return 24 * hour;
  }
}
