import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import type { ApiSession } from "../api-session.js";
import { CleanupSite } from "./cleanup-site.js";
import { createRepository } from "./repository-folders.js";
import { lastRun, MIB, runJob, type LoggedRun } from "./vm-with-disks.js";

// Real programs on a busy machine.
t.comment("timeout=600000");

interface Archive {
  readonly id: string;
}

/** Number of backups that a mirror job copies. */
const BACKUPS = 3;

async function ended(api: ApiSession, job: string): Promise<LoggedRun> {
  for (;;) {
    const run = await lastRun(api, job);
    if (run.status !== "pending") return run;
    await pause(100);
  }
}

/** Waits until the first of the backups was copied. */
async function untilOneIsCopied(api: ApiSession, job: string): Promise<void> {
  for (;;) {
    const { taskId } = await lastRun(api, job);
    const task = await api.rest("GET", `/tasks/${String(taskId)}`);
    const { progress = 0 } = (await task.json()) as { progress?: number };
    if (progress > 1 / BACKUPS) return;
    await pause(20);
  }
}

t.test(
  "a mirror job counts what it copied before its server was killed",
  { timeout: 600_000 },
  async (t) => {
    const site = await CleanupSite.create(t);
    const nightly = await site.createJob("nightly", false);
    for (let i = 1; i <= BACKUPS; i++) {
      await site.write(i);
      t.equal((await runJob(site.api, nightly)).status, "success");
    }
    const { id: target } = await createRepository(t, site.api, {
      name: "target",
    });
    const mirror = String(
      await site.api.request("job.create", {
        job: {
          type: "mirrorBackup",
          name: "copies",
          source: site.repository,
          repositories: [target],
          retention: { keepLast: BACKUPS },
          maxRate: MIB / 4,
        },
      }),
    );
    await site.api.request("job.runNow", { id: mirror });
    await untilOneIsCopied(site.api, mirror);
    await site.stop("SIGKILL");
    await site.start();
    const run = await ended(site.api, mirror);
    t.equal(run.status, "success", JSON.stringify(run));
    const copies = (await site.api.request("backupArchive.getAll", {
      "backup-repository": target,
    })) as Archive[];
    t.equal(copies.length, BACKUPS);
    // Each disk of the VM has a quarter of a MiB, which is written again for each backup.
    const bytes = (BACKUPS * 2 * MIB) / 4;
    const [item] = run["items"] as { repositories: object[] }[];
    t.match(item!.repositories, [{ copied: BACKUPS, read: bytes }]);
    t.equal(run["read"], bytes);
    // What the interrupted copy had written already is not written again.
    t.ok(Number(run["stored"]) >= bytes / BACKUPS);
    await site.stop();
  },
);
