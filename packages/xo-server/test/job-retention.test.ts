import t from "tap";
import {
  LocalDays,
  toDelete,
  type Dated,
  type Retention,
} from "../src/jobs/retention.js";

const DAY = 86_400_000;
const noon = (date: string) => Date.parse(`${date}T12:00:00Z`);
const daily = (from: string, count: number): Dated[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `s${i}`,
    time: noon(from) + i * DAY,
  }));
const keptDates = (snapshots: readonly Dated[], rules: Retention) => {
  const gone = new Set(toDelete(snapshots, rules, "UTC"));
  return snapshots
    .filter((one) => !gone.has(one))
    .map(({ time }) => new Date(time).toISOString().slice(0, 10));
};

t.test(
  "the number of newest snapshots that the rule states is kept",
  async (t) => {
    t.same(keptDates(daily("2026-11-01", 5), { keepLast: 2 }), [
      "2026-11-04",
      "2026-11-05",
    ]);
  },
);

t.test("the last of each year stays", async (t) => {
  const days = daily("2024-06-01", 904); // up to November 21, 2026
  t.same(keptDates(days, { keepYearly: 2 }), ["2025-12-31", "2026-11-21"]);
});

t.test("the last of each day, week and month stays", async (t) => {
  const days = daily("2026-09-01", 81); // up to Friday, November 20
  t.same(keptDates(days, { keepDaily: 3 }), [
    "2026-11-18",
    "2026-11-19",
    "2026-11-20",
  ]);
  t.same(keptDates(days, { keepWeekly: 3 }), [
    "2026-11-08",
    "2026-11-15",
    "2026-11-20",
  ]);
  t.same(keptDates(days, { keepMonthly: 3 }), [
    "2026-09-30",
    "2026-10-31",
    "2026-11-20",
  ]);
  t.same(keptDates(days, { keepDaily: 2, keepWeekly: 2, keepMonthly: 2 }), [
    "2026-10-31",
    "2026-11-15",
    "2026-11-19",
    "2026-11-20",
  ]);
});

t.test("days begin when they do in the zone", async (t) => {
  const late = { id: "late", time: Date.parse("2026-11-20T22:30:00Z") };
  const night = { id: "night", time: Date.parse("2026-11-20T23:30:00Z") };
  t.same(toDelete([late, night], { keepDaily: 2 }, "UTC"), [late]);
  t.same(toDelete([late, night], { keepDaily: 2 }, "Europe/Paris"), []);
  t.match(new LocalDays("Europe/Paris").of(night.time), {
    date: "2026-11-21",
    time: "00-30-00",
    monday: "2026-11-16",
  });
});

t.test("periods without snapshots do not count", async (t) => {
  const some = [
    ...daily("2026-01-05", 2),
    ...daily("2026-11-19", 2).map((one) => ({ ...one, id: `n${one.id}` })),
  ];
  t.equal(keptDates(some, { keepDaily: 3 }).length, 3);
});

t.test("the rules hold for any input", async (t) => {
  const seed = 511;
  t.comment(`seed ${seed}`);
  const random = randomOf(seed);
  const zones = [
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "Australia/Lord_Howe",
  ];
  const upTo = (n: number) => Math.floor(random() * (n + 1));
  for (let i = 0; i < 400; i++) {
    const spread = [3_600_000, DAY, 20 * DAY][upTo(2)]!;
    const all: Dated[] = Array.from({ length: upTo(40) }, (_, n) => ({
      id: `s${n}`,
      time: Math.floor(noon("2026-03-29") + random() * spread * 20),
    }));
    const rules = {
      keepLast: upTo(4),
      keepDaily: upTo(5),
      keepWeekly: upTo(4),
      keepMonthly: upTo(4),
      keepYearly: upTo(3),
    };
    const zone = zones[i % zones.length]!;
    const gone = new Set(toDelete(all, rules, zone));
    const kept = all.filter((one) => !gone.has(one));
    const input = JSON.stringify({ i, rules, zone });
    if (!holds(all, kept, rules, zone)) t.fail(input);
    if (toDelete(kept, rules, zone).length > 0) t.fail(`again: ${input}`);
    const most =
      Math.max(1, rules.keepLast) +
      rules.keepDaily +
      rules.keepWeekly +
      rules.keepMonthly +
      rules.keepYearly;
    if (kept.length > most) t.fail(`too many: ${input}`);
    // The order in which they are reported does not matter.
    const again = new Set(toDelete(all.toReversed(), rules, zone));
    if (again.size !== gone.size || ![...again].every((one) => gone.has(one)))
      t.fail(`order: ${input}`);
  }
});

/** Written otherwise than the code: each rule by itself. */
function holds(
  all: readonly Dated[],
  kept: readonly Dated[],
  rules: Required<Retention>,
  zone: string,
): boolean {
  if (all.length === 0) return kept.length === 0;
  const newest = Math.max(...all.map(({ time }) => time));
  if (!kept.some(({ time }) => time === newest)) return false;
  if (kept.length < Math.min(all.length, rules.keepLast)) return false;
  const format = new Intl.DateTimeFormat("sv", { timeZone: zone });
  const days = new Map<number, string>();
  const day = (time: number) => {
    const known = days.get(time) ?? format.format(time);
    days.set(time, known);
    return known;
  };
  const week = (time: number) =>
    Math.floor((Date.parse(day(time)) / DAY + 3) / 7);
  const periods: [number, (time: number) => string | number][] = [
    [rules.keepDaily, day],
    [rules.keepWeekly, week],
    [rules.keepMonthly, (time) => day(time).slice(0, 7)],
    [rules.keepYearly, (time) => day(time).slice(0, 4)],
  ];
  return periods.every(([count, of]) => {
    const there = [...new Set(all.map(({ time }) => of(time)))].toSorted(
      (a, b) => (a < b ? 1 : -1),
    );
    const left = new Set(kept.map(({ time }) => of(time)));
    return there.slice(0, count).every((period) => left.has(period));
  });
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
