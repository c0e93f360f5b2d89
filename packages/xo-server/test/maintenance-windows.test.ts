import { XoError } from "@xo-server/model";
import t from "tap";
import { MaintenanceWindows } from "../src/schedules/maintenance-windows.js";
import type { Windows } from "../src/schedules/window-shape.js";

const HOUR = 3_600_000;
const at = (time: string) => Date.parse(`${time}Z`);
const iso = (ms: number | undefined) =>
  ms === undefined ? "never" : new Date(ms).toISOString().slice(0, 16);

const nights: Windows = {
  ranges: [{ from: "22:00", to: "06:00" }],
  timezone: "UTC",
};

t.test("work begins only where it ends within its window", async (t) => {
  const windows = new MaintenanceWindows(nights);
  const start = (hours: number, now: string) =>
    iso(windows.startFor(hours * HOUR, at(now)));
  t.equal(start(1, "2026-11-23T12:00"), "2026-11-23T22:00", "by day: waits");
  t.equal(start(1, "2026-11-23T22:00"), "2026-11-23T22:00", "at its start");
  t.equal(start(1, "2026-11-24T04:59"), "2026-11-24T04:59", "an hour is left");
  t.equal(start(1, "2026-11-24T05:01"), "2026-11-24T22:00", "less is left");
  t.equal(start(8, "2026-11-24T00:00"), "2026-11-24T22:00", "a whole window");
  t.equal(start(8.1, "2026-11-24T00:00"), "never", "longer than any window");
  t.equal(windows.longest(at("2026-11-24T00:00")), 8 * HOUR);
});

t.test("days limit on which days a window begins", async (t) => {
  const windows = new MaintenanceWindows({
    ranges: [{ days: ["sat"], from: "20:00", to: "04:00" }],
    timezone: "UTC",
  });
  // 2026-11-23 is a Monday.
  const { from, to } = windows.next(at("2026-11-23T21:00"))!;
  t.equal(iso(from), "2026-11-28T20:00");
  t.equal(iso(to), "2026-11-29T04:00");
  t.equal(iso(windows.next(at("2026-11-29T03:59"))!.from), "2026-11-28T20:00");
  t.equal(iso(windows.next(at("2026-11-29T04:00"))!.from), "2026-12-05T20:00");
});

t.test("windows that follow one another are one", async (t) => {
  const windows = new MaintenanceWindows({
    ranges: [
      { days: ["sat"], from: "20:00", to: "00:00" },
      { days: ["sun"], from: "00:00", to: "00:00" },
    ],
    timezone: "UTC",
  });
  const { from, to } = windows.next(at("2026-11-23T12:00"))!;
  t.equal(iso(from), "2026-11-28T20:00");
  t.equal(iso(to), "2026-11-30T00:00");
  t.equal(windows.longest(at("2026-11-23T12:00")), 28 * HOUR);
});

t.test("times follow the time zone and daylight saving", async (t) => {
  const windows = new MaintenanceWindows({
    ranges: [{ from: "22:00", to: "06:00" }],
    timezone: "Europe/Vienna",
  });
  const winter = windows.next(at("2026-11-23T12:00"))!;
  t.equal(iso(winter.from), "2026-11-23T21:00");
  const summer = windows.next(at("2026-07-01T12:00"))!;
  t.equal(iso(summer.from), "2026-07-01T20:00");
  const change = windows.next(at("2026-10-24T12:00"))!;
  t.equal(change.to - change.from, 9 * HOUR, "an hour more in October");
  const spring = windows.next(at("2027-03-27T12:00"))!;
  t.equal(spring.to - spring.from, 7 * HOUR, "an hour less in March");
});

t.test("without ranges work begins at any time", async (t) => {
  const windows = new MaintenanceWindows({ ranges: [] });
  t.equal(windows.isAlways, true);
  t.equal(windows.startFor(1e12, 5), 5);
});

t.test("an unknown time zone is refused by its name", async (t) => {
  t.throws(
    () => new MaintenanceWindows({ ...nights, timezone: "Mars/Base" }),
    new XoError("INVALID_PARAMETERS", {
      reason: "unknown time zone: Mars/Base",
    }),
  );
});
