import t from "tap";
import type { Job, JobRun } from "@xo-server/store";
import { BackupFigures } from "../src/backups/report/backup-figures.js";
import type { Coverage } from "../src/backups/report/coverage.js";

const DAY = 86_400_000;
const NOW = 100 * DAY;

interface Setting {
  readonly jobs?: readonly string[];
  /** Newest first. */
  readonly runs?: readonly Partial<JobRun>[];
  readonly coverage?: Partial<Coverage>;
}

function figures({ jobs = ["backup"], runs = [], coverage = {} }: Setting) {
  return new BackupFigures({
    store: {
      jobs: {
        list: () =>
          jobs.map((type, i) => ({ id: `j${i}`, type }) as Job).values(),
      },
      jobRuns: { list: () => Promise.resolve({ runs: runs as JobRun[] }) },
    } as never,
    coverage: {
      read: () =>
        Promise.resolve({
          protected: [],
          notProtected: [],
          excluded: [],
          next: [],
          ...coverage,
        }),
    },
    clock: { now: () => NOW },
  });
}

t.test("without backup jobs there are no figures", async (t) => {
  const none = figures({ jobs: ["call", "snapshot"] });
  for (const figure of ["failed", "unprotected", "days"] as const)
    t.same(await none.read(figure), { value: NaN });
});

t.test("the last run that ended counts", async (t) => {
  const failed = {
    jobName: "nightly",
    status: "partial" as const,
    endedAt: NOW,
    body: {
      succeeded: 3,
      failed: 1,
      skipped: 2,
      vms: [
        { name: "web", status: "success" },
        { name: "db", status: "failure", error: { message: "no space" } },
      ],
    },
  };
  const { endedAt, ...pending } = { ...failed, status: "pending" as const };
  void endedAt;
  const skipped = { ...failed, status: "skipped" as const, body: {} };
  t.same(await figures({ runs: [pending, skipped, failed] }).read("failed"), {
    value: 1,
    text: "job nightly: partial (3 done, 1 failed, 2 skipped), db: no space",
  });
  const success = { ...failed, status: "success" as const };
  t.same(await figures({ runs: [success, failed] }).read("failed"), {
    value: 0,
  });
});

t.test("wrong changed block tracking is counted", async (t) => {
  const disks = [{ mismatches: 0 }, { mismatches: 3 }];
  const run = {
    jobName: "nightly",
    status: "success" as const,
    endedAt: NOW,
    body: { vms: [{ name: "web", repositories: [{ disks }] }] },
  };
  t.same(await figures({ runs: [run] }).read("mismatches"), {
    value: 1,
    text: "web (job nightly)",
  });
});

t.test("VMs without a job, and the oldest backup", async (t) => {
  const vm = (name: string, days?: number) => ({
    vm: name,
    name,
    jobs: [],
    ...(days === undefined ? {} : { lastBackup: NOW - days * DAY }),
  });
  const some = figures({
    coverage: {
      protected: [vm("web", 1), vm("db", 9), vm("new")],
      notProtected: Array.from({ length: 12 }, (_, i) => vm(`v${i}`)),
    },
  });
  t.same(await some.read("days"), { value: 9, text: "oldest: db" });
  const { value, text } = await some.read("unprotected");
  t.equal(value, 12);
  t.match(text, /^v0; v1; .*v9 and 2 more$/);
});
