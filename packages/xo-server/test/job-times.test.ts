import t from "tap";
import { createTimes } from "../src/schedules/times.js";

/** The next times after that one, in ISO 8601 without seconds. */
function after(cron: string, zone: string, start: string, count: number) {
  const times = createTimes(cron, zone);
  const found: string[] = [];
  let at = Date.parse(start);
  for (let i = 0; i < count; i++) {
    at = times.next(at)!;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

t.test("a cron expression has 5 fields, 6, or a nickname", async (t) => {
  const start = "2026-11-21T10:00:30Z";
  const first = (cron: string) => after(cron, "UTC", start, 1)[0];
  t.equal(first("*/15 * * * *"), "2026-11-21T10:15");
  t.equal(
    createTimes("45 * * * * *", "UTC").next(Date.parse(start)),
    Date.parse("2026-11-21T10:00:45Z"),
  );
  t.equal(first("0 2 * * MON-FRI"), "2026-11-23T02:00");
  t.equal(first("0 2 1 jan *"), "2027-01-01T02:00");
  t.equal(first("@daily"), "2026-11-22T00:00");
  t.equal(first("0 0 29 2 *"), "2028-02-29T00:00");
  t.equal(first("0 0 L * *"), "2026-11-30T00:00");
});

t.test("an invalid value is reported", async (t) => {
  const wrong = [
    "",
    "* * * *",
    "61 * * * *",
    "1 2 3 4 5 6 7",
    "a b c d e",
    "2026-01-01T00:00:00",
    "0 0 30 2 *",
    `${"1,".repeat(200)}1 * * * *`,
  ];
  for (const cron of wrong)
    t.throws(() => createTimes(cron), { code: "INVALID_PARAMETERS" }, cron);
  for (const zone of ["Mars/Olympus", "", "Europe/Paris\0"])
    t.throws(() => createTimes("@daily", zone), {
      code: "INVALID_PARAMETERS",
    });
});

t.test(
  "Paris: 2:30 runs at 3:00 if it does not exist, and once if it exists twice",
  async (t) => {
    const spring = after("30 2 * * *", "Europe/Paris", "2026-03-28T12:00Z", 2);
    t.same(spring, ["2026-03-29T01:00", "2026-03-30T00:30"]);
    const autumn = after("30 2 * * *", "Europe/Paris", "2026-10-24T12:00Z", 2);
    t.same(autumn, ["2026-10-25T00:30", "2026-10-26T01:30"]);
    const list = after("30 2,14 * * *", "Europe/Paris", "2026-03-28T18:00Z", 2);
    t.same(list, ["2026-03-29T01:00", "2026-03-29T12:30"]);
  },
);

t.test("New York: the same", async (t) => {
  const spring = after(
    "30 2 * * *",
    "America/New_York",
    "2026-03-07T12:00Z",
    2,
  );
  t.same(spring, ["2026-03-08T07:00", "2026-03-09T06:30"]);
  const autumn = after(
    "30 1 * * *",
    "America/New_York",
    "2026-10-31T12:00Z",
    2,
  );
  t.same(autumn, ["2026-11-01T05:30", "2026-11-02T06:30"]);
});

t.test("Lord Howe: half an hour is skipped or repeated", async (t) => {
  const zone = "Australia/Lord_Howe";
  const spring = after("15 2 * * *", zone, "2026-10-02T16:00Z", 2);
  t.same(spring, ["2026-10-03T15:30", "2026-10-04T15:15"]);
  const autumn = after("45 1 * * *", zone, "2026-04-03T16:00Z", 2);
  t.same(autumn, ["2026-04-04T14:45", "2026-04-05T15:15"]);
});

t.test("repeated schedules run in both hours of a DST change", async (t) => {
  t.same(after("*/30 * * * *", "Europe/Paris", "2026-10-24T23:40Z", 5), [
    "2026-10-25T00:00",
    "2026-10-25T00:30",
    "2026-10-25T01:00",
    "2026-10-25T01:30",
    "2026-10-25T02:00",
  ]);
});

t.test("the last time before is found, whatever the interval", async (t) => {
  const at = Date.parse;
  for (const [cron, from, until, last] of [
    [
      "* * * * * *",
      "2025-01-01T00:00:00Z",
      "2026-11-21T10:00:07.500Z",
      "2026-11-21T10:00:07Z",
    ],
    [
      "0 2 * * *",
      "2026-11-01T00:00:00Z",
      "2026-11-21T01:00:00Z",
      "2026-11-20T02:00:00Z",
    ],
    [
      "0 2 * * *",
      "2026-11-20T03:00:00Z",
      "2026-11-21T02:00:00Z",
      "2026-11-21T02:00:00Z",
    ],
  ] as const) {
    const times = createTimes(cron, "UTC");
    t.equal(times.last(at(from), at(until)), at(last), cron);
  }
  const times = createTimes("0 2 * * *", "UTC");
  t.equal(
    times.last(at("2026-11-20T03:00Z"), at("2026-11-21T01:00Z")),
    undefined,
  );
});
