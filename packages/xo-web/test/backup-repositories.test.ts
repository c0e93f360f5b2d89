import t from "tap";
import { findTab, visibleTabs } from "../src/backup/backup-tab.js";
import { summaryOf } from "../src/backup/maintenance.js";
import {
  dailyGrowth,
  daysLeft,
  usedFraction,
  reachabilityOf,
  unreadableStateOf,
  unusableOf,
  toLocation,
  toUrl,
  type Repository,
} from "../src/backup/repository.js";
import {
  inputErrorsOf,
  toChange,
  toCreation,
  toEntries,
} from "../src/backup/repositories/repository-entries.js";
import { adviceOf } from "../src/backup/repositories/repository-advice.js";
import { repositoryProperties } from "../src/backup/repositories/repository-properties.js";
import { Formats } from "../src/locale/formats.js";
import { en } from "../src/locale/en/all.js";

const DAY = 86_400_000;
const repository = (more: Partial<Repository> = {}): Repository => ({
  id: "r",
  name: "nightly",
  url: "file:///mnt/backups",
  enabled: true,
  state: {},
  ...more,
});

t.test("a user without rights sees no tab of administrators", async (t) => {
  t.ok(visibleTabs(true).includes("repositories"));
  t.equal(findTab("repositories", false), "repositories");
  t.equal(findTab("toString", true), visibleTabs(true)[0]);
});

t.test("the state of a repository", async (t) => {
  const error = { code: "BACKUP_REPOSITORY_X", message: "gone", since: 1 };
  t.equal(reachabilityOf(repository()), "unknown");
  t.equal(reachabilityOf(repository({ state: { inspectedAt: 1 } })), "reached");
  t.equal(reachabilityOf(repository({ error })), "failed");
  t.equal(reachabilityOf(repository({ error, enabled: false })), "disabled");
});

t.test("what is wrong with a repository, and what to do", async (t) => {
  const failed = (code: string) =>
    repository({
      error: { code: `BACKUP_REPOSITORY_${code}`, message: "m", since: 1 },
    });
  const texts = en.backup.repositories;
  for (const [code, state] of [
    ["UNREACHABLE", "failed"],
    ["FULL", "full"],
    ["KEY_WRONG", "replaced"],
    ["OLDER", "older"],
    ["DAMAGED", "damaged"],
  ] as const) {
    t.equal(reachabilityOf(failed(code)), state);
    t.equal(adviceOf(failed(code), texts), texts.advice[state]);
  }
  t.equal(adviceOf(repository(), texts), "");
  t.equal(unreadableStateOf(failed("UNREACHABLE")), "failed");
  t.equal(unreadableStateOf(repository({ enabled: false })), "disabled");
  t.equal(
    unreadableStateOf(failed("FULL")),
    undefined,
    "a full one can be read",
  );
  t.equal(
    unreadableStateOf(failed("DAMAGED")),
    undefined,
    "each backup has its state",
  );
  t.equal(unreadableStateOf(repository()), undefined);
  const named = (id: string, more: Partial<Repository>) =>
    repository({ state: { inspectedAt: 1 }, ...more, id });
  const all = [
    named("good", {}),
    named("full", failed("FULL")),
    named("older", failed("OLDER")),
    named("off", { enabled: false }),
    named("new", { state: {} }),
  ];
  const ids = (...names: string[]) =>
    unusableOf(names, all).map((one) => one.id);
  t.same(
    ids("good", "full", "off", "new", "deleted"),
    ["full", "off"],
    "those of a job that fail its runs",
  );
  t.same(ids("good"), []);
});

t.test("damage that concerns no backup is a number of files", async (t) => {
  const finding = { file: "keys/a", problem: "missing", backups: [] };
  const properties = repositoryProperties(
    repository({
      state: {
        verification: { startedAt: 1, endedAt: 2, findings: [finding] },
      },
    }),
    { texts: en.backup.repositories, formats: new Formats("en", en), now: 3 },
  );
  t.match(
    properties.find(({ id }) => id === "verified"),
    { tone: "bad", value: "1 damaged file" },
  );
});

t.test("growth and the time until a file system is full", async (t) => {
  const growth = [
    { time: 0, stored: 100 },
    { time: 4 * DAY, stored: 500 },
  ];
  t.equal(dailyGrowth(growth), 100);
  t.equal(dailyGrowth(growth.slice(0, 1)), undefined);
  t.equal(daysLeft({ available: 1_000, growth }), 10);
  t.equal(daysLeft({ growth }), undefined);
  const shrinking = [growth[1]!, { time: 9 * DAY, stored: 0 }];
  t.equal(daysLeft({ available: 1_000, growth: shrinking }), undefined);
  t.equal(usedFraction({ capacity: 200, available: 50 }), 0.75);
  t.equal(usedFraction({ capacity: 0, available: 0 }), undefined);
});

t.test("damaged backups are counted once", async (t) => {
  t.equal(summaryOf(undefined).state, "never");
  t.equal(summaryOf({ startedAt: 1 }).state, "running");
  t.same(summaryOf({ startedAt: 1, endedAt: 2 }), {
    state: "verified",
    damaged: 0,
    at: 2,
  });
  const finding = (backups: string[]) => ({
    file: "f",
    problem: "damaged",
    backups,
  });
  t.match(
    summaryOf({
      startedAt: 1,
      endedAt: 2,
      findings: [finding(["a", "b"]), finding(["b"])],
    }),
    { state: "damaged", damaged: 2 },
  );
});

t.test("a folder is a file URL", async (t) => {
  t.equal(toUrl(" /mnt/my backups "), "file:///mnt/my%20backups");
  t.equal(toLocation("file:///mnt/my%20backups"), "/mnt/my backups");
  t.equal(toLocation("file:///mnt/100%"), "file:///mnt/100%");
  t.equal(toUrl("s3://host/bucket"), "s3://host/bucket");
});

t.test("the form of a repository", async (t) => {
  const entries = { ...toEntries(undefined), name: "a", location: "/b" };
  t.same(inputErrorsOf({ ...entries, location: "b", name: " " }, false), {
    name: "required",
    location: "location",
    passphrase: "short",
  });
  const isNew = { ...entries, passphrase: "12345678", again: "1234567x" };
  t.same(inputErrorsOf(isNew, false), { again: "different" });
  t.same(toCreation({ ...isNew, again: "12345678", options: " nfs " }), {
    name: "a",
    url: "file:///b",
    options: "nfs",
    passphrase: "12345678",
    parity: true,
  });
  const opened = {
    ...entries,
    kind: "existing",
    opener: "recoveryKey",
  } as const;
  t.same(inputErrorsOf(opened, false), { recoveryKey: "required" });
  t.same(toCreation({ ...opened, recoveryKey: " K " }), {
    name: "a",
    url: "file:///b",
    recoveryKey: "K",
  });
  const before = repository({ options: "nfs" });
  t.same(inputErrorsOf(toEntries(before), true), {});
  t.same(toChange({ ...toEntries(before), options: "" }, before), {
    id: "r",
    name: "nightly",
    options: null,
    verifyDays: null,
  });
  const days = (verifyDays: string) => ({ ...toEntries(before), verifyDays });
  t.match(toChange(days(" 14 "), before), { verifyDays: 14 });
  t.same(inputErrorsOf(days("two"), true), { verifyDays: "days" });
});

t.test("figures of a repository as text", async (t) => {
  const localization = {
    texts: en.backup.repositories,
    formats: new Formats("en", en),
    now: 10 * DAY,
  };
  const state = {
    backups: 3,
    stored: 2 ** 30,
    data: 8 * 2 ** 30,
    deduplication: 8,
    capacity: 4 * 2 ** 30,
    available: 2 ** 30,
    growth: [
      { time: 0, stored: 0 },
      { time: 10 * DAY, stored: 2 ** 30 },
    ],
    verification: { startedAt: 8 * DAY, endedAt: 9 * DAY, repaired: 2 },
  };
  const properties = repositoryProperties(repository({ state }), localization);
  t.match(properties, [
    { id: "backups", value: "3", detail: "for 8 GiB of disks" },
    { id: "used", value: "1 GiB", detail: "1 GiB free of 4 GiB" },
    { id: "deduplication", value: "8×" },
    {
      id: "growth",
      value: "+102 MiB per day",
      detail: "full in 10 days",
      tone: "warn",
    },
    { id: "verified", value: "yesterday", detail: "2 files repaired" },
  ]);
  t.match(repositoryProperties(repository(), localization), [
    { id: "backups", value: "–" },
    { id: "used", value: "–" },
    { id: "growth", value: "–" },
    { id: "verified", value: "never", tone: "warn" },
  ]);
});
