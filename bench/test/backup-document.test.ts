import t from "tap";
import { checkShape } from "../src/backup/backup-bench.js";
import { backupDocument } from "../src/backup/backup-document.js";
import { sampleReportOf } from "./sample-report.js";

const ours = {
  usedMib: 512,
  changedMib: 5,
  fullMs: 4_000,
  fullCpuMs: 2_500,
  fullRssMib: 200,
  incrementalMs: 300,
  incrementalStoredMib: 2.5,
  restoreMs: 2_000,
  restoreRssMib: 150,
};

t.test("targets are ratios of the same run", async (t) => {
  const document = backupDocument(
    sampleReportOf({
      "xo-server": ours,
      "zstd -1 -T2 | openssl": { ...ours, fullMs: 2_000, restoreMs: 1_900 },
      restic: { ...ours, fullMs: 9_000, incrementalMs: 10_000 },
    }),
  );
  t.match(
    document,
    /of the pipe's speed: at least 0.8x \| +0.50x \| \*\*missed/,
  );
  t.match(document, /of restic's speed: at least 2x \| +2.25x \| met/);
  t.match(document, /CPU a GiB of new data: at most 5.5 s \| +5.0 s \| met/);
  t.match(document, /of restic's: at most 0.05x \| +0.03x \| met/);
  t.match(document, "Not installed here: borg.");
  t.match(document, "| 128.0 (128.0..128.0) |");
});

t.test("a smoke run wants something to have been measured", async (t) => {
  checkShape(sampleReportOf({ "xo-server": ours }));
  t.throws(() => {
    checkShape(sampleReportOf({ "xo-server": { usedMib: 24 } }));
  }, /nothing measured/);
});

t.test("NBD has a table and a target of its own", async (t) => {
  const document = backupDocument(
    sampleReportOf({
      "xo-server": ours,
      "NBD: xo-server": { nbdMib: 1024, nbdMs: 2_000, nbdCpuMs: 1_500 },
      "NBD: nbdcopy": { nbdMib: 1024, nbdMs: 1_000, nbdCpuMs: 1_100 },
    }),
  );
  t.match(
    document,
    /of nbdcopy's speed: at least 0.9x \| +0.50x \| \*\*missed/,
  );
  t.match(document, /\| nbdcopy +\| 1024.0 \(1024.0..1024.0\) \|/);
  t.notMatch(document, /\| NBD: /);
});

t.test("what is not installed is named", async (t) => {
  const document = backupDocument(sampleReportOf({ "xo-server": ours }));
  t.match(document, "nbdkit is not installed here");
  t.match(
    backupDocument(
      sampleReportOf({
        "xo-server": ours,
        "NBD: xo-server": { nbdMib: 1024, nbdMs: 2_000, nbdCpuMs: 1_500 },
      }),
    ),
    "nbdcopy is not installed here",
  );
});

t.test("the server beside eight backups has targets", async (t) => {
  const document = backupDocument(
    sampleReportOf({
      "xo-server": ours,
      "server: 8 VMs at once": {
        serverMs: 20_000,
        serverDisks: 22,
        healthP99Ms: 30,
        longestOwnMs: 8,
      },
    }),
  );
  t.match(document, /own block of the server: at most 10 ms \| +8.0 ms \| met/);
  t.match(document, /\/health, p99: at most 20 ms \| +30.0 ms \| \*\*missed/);
  t.match(document, "with 22 disks at once");
});
