import t from "tap";
import type { Xapi } from "@xo-server/xen-api";
import type { ListedBackup } from "@xo-server/backup";
import { toArchive, toStored } from "../src/backups/archives/archive.js";
import {
  beginVerification,
  endVerification,
  verificationOf,
  type Verification,
} from "../src/backups/repositories/verification.js";
import {
  chooseBase as chooseCopyBase,
  chooseExpired,
  chooseMissing,
} from "../src/backups/mirror/choose-copies.js";
import { expired } from "../src/backups/run/apply-retention.js";
import { chooseBase } from "../src/backups/run/base-choice.js";
import type { StoredBackup } from "../src/backups/run/repository-access.js";

const day = (date: string) => Date.parse(`${date}T12:00:00Z`);

/** Backups in the order of the log, with the dates that clocks have shown. */
function stored(...dates: string[]): StoredBackup[] {
  return dates.map((date, i) => ({
    id: `r/${date}`,
    repository: "r",
    backup: date,
    job: "j",
    schedule: undefined,
    run: date,
    time: day(date),
    order: i + 1,
  }));
}

const request = (newest: string, rules: object) => ({
  job: "j",
  schedule: undefined,
  repository: "r",
  newest,
  rules,
  timezone: "UTC",
});

t.test(
  "retention keeps the last backups, not those with the latest dates",
  async (t) => {
    // The clock was ahead, then it was corrected.
    const ahead = stored(
      "2026-11-01",
      "2036-01-01",
      "2036-01-02",
      "2026-11-02",
      "2026-11-03",
    );
    t.same(expired(ahead, request("2026-11-03", { keepLast: 2 })).toSorted(), [
      "2026-11-01",
      "2036-01-01",
      "2036-01-02",
    ]);
    // The clock was set back, so that the newest are dated before the oldest.
    const back = stored("2026-11-01", "2026-11-02", "2020-01-01", "2020-01-02");
    t.same(expired(back, request("2020-01-02", { keepLast: 2 })).toSorted(), [
      "2026-11-01",
      "2026-11-02",
    ]);
    t.same(expired(back, request("2020-01-02", { keepDaily: 2 })).toSorted(), [
      "2026-11-01",
      "2026-11-02",
    ]);
  },
);

t.test(
  "the base of the next backup is the last one, whatever its date is",
  async (t) => {
    const all = stored("2026-11-02", "2020-01-01");
    const snapshots = new Map(
      all.map((one) => [
        `ref-${one.backup}`,
        {
          uuid: `u-${one.backup}`,
          is_a_snapshot: true,
          type: "user",
          virtual_size: 10,
          SR: "sr",
          other_config: {
            "xo:backup:job": "j",
            "xo:backup:run": one.run,
            "xo:backup:time": String(one.time),
            "xo:backup:uuid": `u-${one.backup}`,
            "xo:backup:backup": `r/${one.backup}`,
          },
        },
      ]),
    );
    const xapi = {
      call: async (method: string, [ref]: readonly string[]) => {
        if (method !== "VDI.get_record") throw new Error(method);
        return snapshots.get(ref!) ?? { snapshots: [...snapshots.keys()] };
      },
    } as unknown as Xapi;
    const disk = { uuid: "d", vdi: "vdi", size: 10, sr: "sr" };
    const choice = await chooseBase(
      xapi,
      { ofVm: async () => all },
      {
        job: "j",
        run: "now",
        vm: "v",
        repository: "r",
        disks: [disk as never],
        isFull: false,
        fullInterval: undefined,
      },
    );
    t.equal(choice.backup, "2020-01-01");
  },
);

t.test(
  "a mirror job copies and keeps the last backups of the source",
  async (t) => {
    const sources = stored("2036-01-01", "2026-11-01", "2026-11-02").map(
      ({ backup, time, order }) => ({ backup, time, order, isDamaged: false }),
    );
    const rules = { rules: { keepLast: 1 }, timezone: "UTC" };
    const copy = ({ backup, time, order }: (typeof sources)[number]) => ({
      of: backup,
      backup: `copy of ${backup}`,
      time,
      order,
      read: 0,
      stored: 0,
    });
    const [ahead, middle, last] = sources as [
      (typeof sources)[number],
      (typeof sources)[number],
      (typeof sources)[number],
    ];
    t.same(chooseMissing(sources, [copy(ahead)], rules), [last]);
    t.same(chooseExpired([copy(last), copy(ahead)], rules), [
      "copy of 2036-01-01",
    ]);
    t.match(chooseCopyBase(last.order, sources, [copy(ahead), copy(middle)]), {
      of: "2026-11-01",
    });
  },
);

t.test(
  "the index has the order beside the time; a copy has that of its source",
  async (t) => {
    const listed: ListedBackup = {
      id: "b",
      time: day("2020-01-01"),
      order: day("2026-11-02") + 1,
      properties: { vm: { uuid: "v" } },
      disks: [],
      sizes: { disks: 0, read: 0, stored: 0 },
    };
    t.match(toArchive(toStored("r", listed)), {
      time: day("2020-01-01"),
      order: day("2026-11-02") + 1,
    });
    const mirror = { job: "m", repository: "s", backup: "c", order: 5 };
    const properties = { ...listed.properties, mirror };
    t.match(toArchive(toStored("r", { ...listed, properties })), {
      time: day("2020-01-01"),
      order: 5,
    });
    const { properties: own, disks, sizes } = listed;
    const body = { properties: own, disks, sizes };
    t.match(toArchive({ id: "r/b", repository: "r", order: 7, body }), {
      time: 7,
      order: 7,
    });
  },
);

t.test(
  "only backups that were read are verified, whatever their clocks have shown",
  async (t) => {
    const run = (
      before: Verification | undefined,
      found: { next: string; firstNext: string; order: number },
      now: number,
    ) =>
      endVerification(
        beginVerification(before, now),
        { findings: [], backups: 1, checked: 1, ...found },
        now + 1,
      );
    const of = (
      verification: Verification,
      logOrder: number | undefined,
      time: number,
    ) => verificationOf({ verification }, { backup: "b", time, logOrder });
    const done = { next: "p", firstNext: "" };
    const first = run(undefined, { ...done, order: 10 }, 1_000);
    t.equal(of(first, 10, 5_000), "verified", "its clock was ahead");
    t.equal(of(first, 11, 20), "none", "its clock was behind");
    t.equal(of(first, undefined, 20), "verified", "only its date is known");

    const half = { next: "p", firstNext: "q" };
    const begun = run(first, { ...half, order: 12 }, 2_000);
    t.equal(of(begun, 11, 1_500), "none", "not all of it was read");
    const ended = run(begun, { ...done, order: 13 }, 3_000);
    t.equal(of(ended, 12, 1_500), "verified");
    t.equal(of(ended, 13, 1_600), "none", "it came while that was read");

    const round = run(ended, { next: "", firstNext: "q", order: 14 }, 4_000);
    t.equal(of(round, 12, 0), "verified");
    t.equal(of(round, 13, 0), "none", "the round began before it");
  },
);

t.test("what an earlier version has verified stays verified", async (t) => {
  const before = {
    startedAt: 500,
    verifiedBefore: 1_000,
    next: "p",
    firstNext: "q",
  };
  const found = { findings: [], backups: 1, checked: 1, order: 2_000 };
  const of = (verification: Verification, logOrder: number) =>
    verificationOf({ verification }, { backup: "b", time: logOrder, logOrder });
  const going = endVerification(
    beginVerification(before, 2_000),
    { ...found, next: "r", firstNext: "s" },
    2_001,
  );
  t.equal(of(going, 900), "verified");
  t.equal(of(going, 1_500), "none");
});

t.test("a copy has the order of its source, and one in its own log", (t) => {
  const properties = { mirror: { order: 7 } };
  const sizes = { disks: 0, read: 0, stored: 0 };
  const listed = { id: "b", time: 1, order: 30, properties, disks: [], sizes };
  const archive = toArchive(toStored("r", listed));
  t.match(archive, { order: 7, logOrder: 30, time: 1 });
  const { logOrder, ...older } = toStored("r", listed).body as {
    logOrder: number;
  };
  t.equal(logOrder, 30);
  const row = { id: "r/b", repository: "r", order: 7, body: older };
  t.equal(toArchive(row).logOrder, undefined, "not known");
  t.end();
});
