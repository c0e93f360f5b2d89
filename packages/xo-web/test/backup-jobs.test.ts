import t from "tap";
import { planSummary } from "../src/backup/jobs/backup-plan.js";
import {
  fromCron,
  newFrequency,
  toCron,
} from "../src/backup/jobs/frequency.js";
import { cronText } from "../src/backup/jobs/frequency-text.js";
import {
  inputErrorsOf,
  toEntries,
  toJob,
} from "../src/backup/jobs/job-entries.js";
import { exampleOf } from "../src/backup/jobs/retention-example.js";
import { retentionText } from "../src/backup/jobs/retention-text.js";
import { selectionOf, type BackupJob } from "../src/backup/job.js";
import { failuresOf, readRate } from "../src/backup/run.js";
import {
  countsText,
  sourceText,
  transferText,
} from "../src/backup/runs/run-text.js";
import { Formats } from "../src/locale/formats.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";

const DAY = 86_400_000;
const localization = { texts: en.backup.jobs, formats: new Formats("en", en) };

t.test("a frequency is a cron expression and back", async (t) => {
  for (const [cron, kind] of [
    ["30 22 * * *", "daily"],
    ["5 4 * * 1-5", "workdays"],
    ["0 4 * * 0", "weekly"],
    ["0 3 15 * *", "monthly"],
    ["20 * * * *", "hourly"],
  ] as const) {
    const frequency = fromCron(cron);
    t.equal(frequency.kind, kind, cron);
    t.equal(toCron(frequency), cron);
  }
  t.match(fromCron("0 20 * * MON-FRI"), { kind: "workdays", time: "20:00" });
  t.match(fromCron("0 4 * * SUN"), { kind: "weekly", weekday: 0 });
  t.match(fromCron("0 4 * * 7"), { kind: "weekly", weekday: 0 });
  for (const other of ["*/5 * * * *", "0 0 1 1 *", "0 4 1 * 1", "@daily", ""])
    t.match(fromCron(other), { kind: "custom", cron: other });
  t.equal(toCron({ ...newFrequency, kind: "manual" }), undefined);
  t.equal(toCron({ ...newFrequency, time: "" }), undefined);
});

t.test("a schedule as text", async (t) => {
  t.equal(cronText("5 4 * * *", localization), "Every day at 04:05");
  t.equal(cronText("0 4 * * 0", localization), "Every Sunday at 04:00");
  t.equal(cronText("20 * * * *", localization), "Every hour at minute 20");
  const german = { texts: de.backup.jobs, formats: new Formats("de", de) };
  t.equal(cronText("0 4 * * 1", german), "Jeden Montag um 04:00");
});

t.test("what a retention keeps", async (t) => {
  const newest = new Date(2026, 10, 23, 22, 30).getTime();
  const kept = exampleOf(
    { keepLast: 2, keepDaily: 3, keepWeekly: 2 },
    newest,
    DAY,
  );
  const dates = kept.map(({ time }) => new Date(time).getDate());
  // The 23rd is a Monday: the last backup of the week before is that of the 22nd.
  t.same(dates, [23, 22, 21]);
  t.same(kept[1]!.rules, ["keepLast", "keepDaily", "keepWeekly"]);
  t.same(exampleOf({}, newest, DAY), []);
  const years = exampleOf({ keepYearly: 3 }, newest, 3_600_000);
  t.equal(years.length, 3, "hourly backups, too");
  t.equal(
    retentionText({ keepLast: 3, keepDaily: 1 }, localization),
    "latest 3, 1 day",
  );
});

t.test("the form of a backup job", async (t) => {
  const entries = { ...toEntries(undefined), name: "n", repositories: ["r"] };
  t.same(inputErrorsOf(entries), {});
  t.match(toJob(entries, undefined), {
    type: "backup",
    name: "n",
    filter: "",
    excludedTags: ["xo:no-bak"],
    repositories: ["r"],
    retention: { keepLast: 3, keepDaily: 7, keepWeekly: 4, keepMonthly: 6 },
    mode: "incremental",
  });
  t.same(
    inputErrorsOf({
      ...entries,
      name: " ",
      repositories: [],
      selection: "vms",
      concurrency: "33",
      maxRate: "x",
      windowFrom: "22:00",
      retention: {
        keepLast: "0",
        keepDaily: "",
        keepWeekly: "",
        keepMonthly: "",
        keepYearly: "",
      },
    }),
    {
      name: "required",
      repositories: "repositories",
      vms: "vms",
      concurrency: "number",
      maxRate: "number",
      windowTo: "window",
      retention: "retention",
    },
  );
  t.equal(inputErrorsOf({ ...entries, selection: "filter" }).filter, "filter");
});

t.test("reports of a backup job", async (t) => {
  const report = {
    when: "failure",
    addresses: ["a@example.org", "b@example.org"],
    webHooks: ["https://example.org/hook?a=1,2", "http://hooks/x"],
  } as const;
  const before: BackupJob = {
    id: "j",
    name: "n",
    type: "backup",
    repositories: ["r"],
    retention: { keepLast: 1 },
    report,
  };
  const entries = toEntries(before);
  t.same(toJob(entries, before)["report"], report, "it stays");
  t.same(inputErrorsOf(entries), {});
  const none = { ...entries, addresses: " ", webHooks: "" };
  t.equal(inputErrorsOf(none).addresses, "receiver");
  const wrong = { ...entries, addresses: "a@b; c", webHooks: "ftp://x" };
  t.match(inputErrorsOf(wrong), {
    addresses: "addresses",
    webHooks: "webHooks",
  });
  const never = { ...none, reportWhen: "never" } as const;
  t.same(inputErrorsOf(never), {});
  t.equal(toJob(never, before)["report"], null);
  t.notOk("report" in toJob(toEntries(undefined), undefined));
  t.match(toJob({ ...entries, addresses: "x@y.z,v@w.u" }, before), {
    report: { addresses: ["x@y.z", "v@w.u"] },
  });
});

t.test("what a form does not mention is removed, or stays", async (t) => {
  const before: BackupJob = {
    id: "j",
    name: "n",
    type: "backup",
    vms: ["a"],
    repositories: ["r"],
    retention: { keepLast: 1 },
    maxRate: 10_000_000,
    window: { from: "22:00", to: "06:00" },
  };
  const entries = toEntries(before);
  t.equal(entries.selection, "vms");
  t.equal(entries.maxRate, "10");
  const same = toJob(entries, before);
  t.match(same, { vms: ["a"], maxRate: 10_000_000, window: before.window });
  t.notOk("filter" in same);
  const other = toJob(
    {
      ...entries,
      selection: "filter",
      filter: "x",
      maxRate: "1,5",
      windowFrom: "",
    },
    before,
  );
  t.match(other, { vms: null, filter: "x", maxRate: 1_500_000, window: null });
  const pattern = { ...before, vms: [], pattern: { tags: [["a"]] } };
  t.equal(selectionOf(pattern), "pattern");
  t.notOk("pattern" in toJob(toEntries(pattern), pattern), "it stays");
});

t.test("a preview adds up sizes of disks once", async (t) => {
  const disk = (vdi: string, mode: "full" | "incremental") => ({
    vdi,
    name: vdi,
    size: 10,
    mode,
  });
  const place = (repository: string, mode: "full" | "incremental") => ({
    repository,
    name: repository,
    disks: [disk("a", mode), disk("b", "incremental")],
  });
  t.same(
    planSummary({
      vms: [
        {
          vm: "v",
          name: "v",
          repositories: [place("1", "incremental"), place("2", "full")],
        },
        { vm: "w", name: "w", problem: "no" },
      ],
    }),
    { full: 10, incremental: 10, problems: 1 },
  );
});

t.test("failures of a run by their reason", async (t) => {
  const vm = { start: 0, end: 1 };
  const failed = { ...vm, status: "failure" } as const;
  const full = { repository: "r", name: "r", ...failed };
  t.same(
    failuresOf(
      {
        vms: [
          { ...vm, vm: "1", name: "a", status: "success" },
          {
            ...failed,
            vm: "2",
            name: "b",
            repositories: [{ ...full, error: { message: "disk full" } }],
          },
          { ...failed, vm: "3", name: "c", error: { message: "disk full" } },
          { ...failed, vm: "4", name: "d", reason: "gone" },
        ],
      },
      en,
    ),
    [
      { reason: "disk full", vms: ["b", "c"] },
      { reason: "gone", vms: ["d"] },
    ],
  );
  t.same(failuresOf({ error: { message: "no VM" } }, en), [
    { reason: "no VM", vms: [] },
  ]);
});

t.test("figures of a run as text", async (t) => {
  const run = {
    id: "1",
    jobId: "j",
    jobName: "n",
    status: "partial",
    start: 0,
    end: 2_000,
    succeeded: 2,
    failed: 1,
    read: 2 ** 30,
    stored: 2 ** 20,
  } as const;
  const texts = { ...localization, texts: en.backup.runs };
  t.equal(readRate(run), 2 ** 29);
  t.equal(countsText(run, texts), "2 succeeded, 1 failed");
  t.equal(transferText(run, texts), "1 GiB read, 1 MiB stored, 537 MB/s");
  t.equal(
    sourceText({ source: "nbd-changed" }, texts),
    "changed blocks, over NBD",
  );
  t.equal(sourceText({ source: "toString" }, texts), "toString");
});
