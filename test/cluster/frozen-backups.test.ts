import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { ApiSession } from "../api-session.js";
import { createRepository } from "../backup/repository-folders.js";
import { RESTORABLE } from "../backup/restorable-vm.js";
import { storeBackup } from "../backup/stored-backups.js";
import { lastRun, MIB, smallDisks } from "../backup/vm-with-disks.js";
import { setFault } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** Two servers with leases of 2 s over a pool without changes of its own. */
async function setUp(t: Test) {
  const group = await ServerGroup.open(t, {
    bin: bin!,
    pool: ["--churn", "0"],
    settings: "server: { name: NAME, leaseMs: 2000 }",
  });
  const members = [];
  for (let i = 0; i < 2; i++) {
    const { program, url } = await group.start(i);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    members.push({ program, api: await ApiSession.open(t, url) });
  }
  const [frozen, other] = members;
  const repository = await createRepository(t, frozen!.api);
  return { group, frozen: frozen!, other: other!, repository };
}

/** Resolves with the first value that is not undefined. */
async function untilFound<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await pause(100);
  }
}

t.test(
  "a server that wakes up does not delete what another one has restored for it",
  { skip },
  async (t) => {
    const { group, frozen, other, repository } = await setUp(t);
    const backup = await storeBackup(
      repository,
      { uuid: "00000000-0000-4000-8000-00000000000a", name_label: "db" },
      { system: randomBytes(8 * MIB) },
      { records: RESTORABLE },
    );
    await frozen.api.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    });
    const srs = await other.api.all({ type: "SR" });
    const sr = srs.find(
      (one) => !["udev", "iso"].includes(String(one["SR_type"])),
    );
    const slow = { value: MIB / 4, method: "http/put_import_raw_vdi" };
    await setFault(group.pool, "trickle", slow);
    const id = encodeURIComponent(`${repository.id}/${backup}`);
    const path = `/backup-archives/${id}/actions/restore`;
    const begun = await frozen.api.rest("POST", path, {
      sr: sr!.id,
      name: "restored",
    });
    const { taskId } = (await begun.json()) as { taskId: string };
    await untilFound(async () => {
      const tasks = await other.api.all({ type: "task" });
      return tasks.find((one) =>
        String(one["name_label"]).startsWith("Restore of"),
      );
    });
    frozen.program.child.kill("SIGSTOP");
    await setFault(group.pool, "trickle", false);
    const restored = await other.api.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await restored.json(), { status: "success" });

    frozen.program.child.kill("SIGCONT");
    const seen = await frozen.api.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await seen.json(), { status: "success" });
    // It asks the pool for up to 2 s why its upload has failed, before it cleans up.
    await pause(3_000);
    const left = await other.api.all({ type: "VM", name_label: "restored" });
    t.equal(left.length, 1, "the VM exists");
    const disks = await other.api.all({ type: "VDI", name_label: "system" });
    t.equal(disks.length, 1, "with its disk");
  },
);

t.test(
  "a run that two servers have taken for theirs stores one backup",
  { skip },
  async (t) => {
    const { group, frozen, other, repository } = await setUp(t);
    const vm = await smallDisks(frozen.api, ["system"]);
    const written = await fetch(`${group.pool.url}/sim/write`, {
      method: "POST",
      body: JSON.stringify({
        vdi: vm.disks[0],
        pattern: "sequential",
        bytes: 8 * MIB,
        seed: 1,
      }),
    });
    t.ok(written.ok);
    const job = String(
      await frozen.api.request("job.create", {
        job: {
          type: "backup",
          name: "nightly",
          vms: [vm.id],
          repositories: [repository.id],
          retention: { keepLast: 10 },
          maxRate: MIB,
        },
      }),
    );
    await frozen.api.request("job.runNow", { id: job });
    // Data is transferred, and the database shows it.
    await untilFound(async () => {
      const { taskId } = await lastRun(other.api, job);
      const task = await other.api.rest("GET", `/tasks/${String(taskId)}`);
      const { progress = 0 } = (await task.json()) as { progress?: number };
      return progress > 0 ? progress : undefined;
    });
    // Its worker goes on, while the run continues at the other server.
    frozen.program.child.kill("SIGSTOP");
    const run = await untilFound(async () => {
      const last = await lastRun(other.api, job);
      return last.status === "pending" ? undefined : last;
    });
    frozen.program.child.kill("SIGCONT");
    t.match(run, { status: "success" });
    await frozen.api.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    });
    const listed = (await other.api.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    })) as Record<string, Record<string, { id: string }[]>>;
    const stored = listed[repository.id]?.[vm.id] ?? [];
    t.same(
      stored.map(({ id }) => id),
      [`${repository.id}/${run.vms[0]!.repositories![0]!.backup}`],
    );
    const again = await other.api.call("job.runNow", { id: job, wait: true });
    t.match(again.result, { status: "success" }, "the next run");
  },
);
