import t from "tap";
import { rollingText } from "../src/details/pool/rolling-text.js";
import type { RollingState } from "../src/details/pool/rolling-plan.js";
import {
  toWindowEntries,
  toWindows,
  type Windows,
} from "../src/details/pool/windows.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import { toTotals } from "../src/updates/patch-totals.js";
import { progressOf } from "../src/updates/pool-progress.js";
import {
  groupChoices,
  groupsOf,
  rollingInputErrorsOf,
  toRollingEntries,
  toRollingJob,
} from "../src/updates/rolling-entries.js";
import type { RollingJob, RollingJobRun } from "../src/updates/rolling-job.js";
import { windowText } from "../src/updates/window-text.js";

const job: RollingJob = {
  id: "j",
  name: "monthly",
  type: "rollingUpdate",
  groups: [["test"], ["a", "b"]],
  windows: { ranges: [{ from: "22:00", to: "05:00", days: ["sat"] }] },
  parallel: 2,
};

t.test("the form of a job changes nothing that was not changed", async (t) => {
  const entries = toRollingEntries(job);
  t.same(toRollingJob(entries, job), {
    type: "rollingUpdate",
    name: "monthly",
    groups: job.groups,
    windows: job.windows,
    parallel: 2,
    shutdownPinnedVms: false,
    migrateBack: false,
  });
  t.same(rollingInputErrorsOf(entries), {});
});

t.test("groups follow their numbers, empty ones are left out", async (t) => {
  const groups = { a: 3, b: 0, c: 1, d: 3 };
  t.same(groupsOf({ groups }), [["c"], ["a", "d"]]);
  t.same(groupChoices({ groups }), [1, 2, 3, 4]);
  t.same(groupChoices({ groups: {} }), [1]);
  t.equal(groupChoices({ groups: { a: 32 } }).length, 32, "the server's limit");
});

t.test("a job needs a name, pools, and numbers within limits", async (t) => {
  const entries = {
    ...toRollingEntries(undefined),
    parallel: "65",
    concurrency: "0",
  };
  t.same(rollingInputErrorsOf(entries), {
    name: "required",
    groups: "pools",
    parallel: "number",
    concurrency: "number",
  });
});

t.test("properties that were cleared are removed from the job", async (t) => {
  const entries = {
    ...toRollingEntries(job),
    windows: undefined,
    parallel: " ",
  };
  t.match(toRollingJob(entries, job), { windows: null, parallel: null });
  t.notOk("windows" in toRollingJob(entries, undefined));
});

t.test("windows are the same after their form", async (t) => {
  const all: readonly (Windows | undefined)[] = [
    undefined,
    { ranges: [{ from: "01:00", to: "02:00" }] },
    {
      timezone: "Asia/Tokyo",
      ranges: [
        { from: "01:00", to: "02:00", days: ["mon", "tue"] },
        { from: "22:00", to: "00:00" },
      ],
    },
  ];
  for (const windows of all)
    t.same(toWindows(toWindowEntries(windows, "Europe/Vienna")), windows);
  const fresh = toWindowEntries(undefined, "Europe/Vienna");
  t.match(toWindows({ ...fresh, isOn: true }), { timezone: "Europe/Vienna" });
  t.equal(
    toWindows({
      ...fresh,
      isOn: true,
      ranges: [{ from: "25:00", to: "05:00", days: [] }],
    }),
    undefined,
    "an incomplete range is not a window",
  );
});

t.test("windows are described, a line for each", async (t) => {
  const localization = {
    texts: en.poolUpdates.jobs,
    every: "Server time zone",
    language: "en",
  };
  t.same(windowText(undefined, localization), ["at any time"]);
  t.same(windowText(job.windows, localization), [
    "Sat 22:00–05:00 (Server time zone)",
  ]);
  const windows = {
    timezone: "UTC",
    ranges: [{ from: "00:00", to: "00:00" }],
  };
  t.same(windowText(windows, localization), ["every day 00:00–00:00 (UTC)"]);
});

const run: RollingJobRun = {
  id: "r",
  jobId: "j",
  jobName: "monthly",
  status: "pending",
  start: 1_000,
};
const current: NonNullable<RollingState["current"]> = {
  kind: "update",
  since: 1_100,
  hosts: ["h1", "h2"],
  completed: ["h1"],
  waves: [],
  isSuspendRequested: false,
};
const last: NonNullable<RollingState["last"]> = {
  kind: "update",
  since: 1_100,
  endedAt: 2_000,
  hosts: 2,
  completed: 2,
};

t.test("how far a run is with a pool", async (t) => {
  const state = (
    of: Partial<RollingState>,
    own: RollingJobRun | undefined = run,
  ) => progressOf("a", own, { current: null, last: null, ...of });
  t.match(progressOf("a", undefined, undefined), { state: "notRun" });
  t.match(progressOf("a", run, undefined), { state: "waiting" });
  t.match(state({ current }), { state: "running", completed: 1, hosts: 2 });
  t.match(
    state({ current: { ...current, suspension: { since: 5, until: 9 } } }),
    {
      state: "suspended",
      until: 9,
    },
  );
  t.match(state({ last }), { state: "done" });
  t.match(
    state({ last: { ...last, endedAt: 900 } }),
    { state: "waiting" },
    "the last update of the pool was before the run",
  );
  t.match(
    state({ current: { ...current, stopped: "disk full" } }),
    { state: "waiting" },
    "what stopped before the run is resumed by it",
  );

  const entry = { pool: "a", name: "A", start: 1, end: 2 };
  const ended = { ...run, status: "failure" as const, end: 3_000 };
  const failed = {
    ...ended,
    pools: [
      { ...entry, status: "failure" as const, error: { message: "no plan" } },
    ],
  };
  t.match(state({ current: { ...current, stopped: "disk full" } }, failed), {
    state: "stopped",
    reason: "disk full",
  });
  t.match(state({}, failed), { state: "failed", reason: "no plan" });
  t.match(state({}, { ...ended, pools: [{ ...entry, status: "success" }] }), {
    state: "done",
  });
  t.match(state({ last }, ended), { state: "notBegun" });
});

t.test("the rolling update of a pool in one sentence", async (t) => {
  const localization = { text: en, formats: new Formats("en", en) };
  t.equal(rollingText(undefined, localization), "–");
  t.match(
    rollingText({ current: null, last: null }, localization),
    "No rolling update or reboot yet.",
  );
  t.match(rollingText({ current, last }, localization), "1 of 2 hosts");
  const stopped = { ...current, stopped: "disk full" };
  t.match(rollingText({ current: stopped, last }, localization), "disk full");
});

t.test(
  "a pool lacks the updates of its host that lacks the most",
  async (t) => {
    const host = (missing: number, security: number) => ({
      host: "h",
      version: "8.3.0",
      missing,
      security,
    });
    t.same(toTotals({ hosts: [host(3, 0), host(5, 2)], differ: false }), {
      missing: 5,
      security: 2,
      version: "8.3.0",
      differ: false,
    });
    t.match(toTotals({ hosts: [{ host: "h", version: "1" }], differ: true }), {
      missing: undefined,
      differ: true,
    });
  },
);
