import { readFile, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Answer } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import {
  lastRun,
  MIB,
  runJob,
  withSmallDisks,
  write,
} from "./vm-with-disks.js";

t.comment("timeout=600000");

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

interface Archive {
  readonly id: string;
  readonly size: number;
  readonly timestamp: number;
}

async function setUp(t: Test) {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api, pools } = controlled;
  const { id: source, folder: sourceFolder } = await createRepository(t, api, {
    name: "source",
  });
  const { id: target, folder } = await createRepository(t, api, {
    name: "target",
  });
  const vm = await withSmallDisks(controlled, ["system"]);
  const backup = await api.request("job.create", {
    job: {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [source],
      retention: { keepLast: 10 },
    },
  });
  const mirror = await api.request("job.create", {
    job: {
      type: "mirrorBackup",
      name: "copy",
      source,
      repositories: [target],
      retention: { keepLast: 2 },
    },
  });
  const archives = async (repository: string) =>
    (await api.request("backupArchive.getAll", {
      "backup-repository": repository,
    })) as Archive[];
  return {
    ...controlled,
    source,
    target,
    folder,
    sourceFolder,
    vm,
    mirror: String(mirror),
    archives,
    backUp: async () => {
      write(pools[0]!, vm.disks[0]!, 3 * MIB, 65_536);
      const run = await runJob(api, String(backup));
      if (run.status !== "success") throw new Error(JSON.stringify(run));
    },
  };
}

t.test("a backup that is deleted meanwhile is not copied", async (t) => {
  const { api, source, target, mirror, archives, backUp } = await setUp(t);
  await backUp();
  await backUp();
  const [newest] = await archives(source);
  await api.request("job.set", { id: mirror, job: { maxRate: MIB / 4 } });
  await api.request("job.runNow", { id: mirror });
  // The older one is being copied.
  for (;;) {
    const { taskId } = await lastRun(api, mirror);
    const task = await api.rest("GET", `/tasks/${String(taskId)}`);
    const { progress = 0 } = (await task.json()) as { progress?: number };
    if (progress > 0) break;
    await pause(50);
  }
  await api.request("backupNg.deleteVmBackup", { id: newest!.id });
  let run = await lastRun(api, mirror);
  for (; run.status === "pending"; run = await lastRun(api, mirror))
    await pause(50);
  t.match(
    run,
    { status: "success", items: [{ repositories: [{ copied: 1 }] }] },
    JSON.stringify(run),
  );
  t.equal((await archives(target)).length, 1);
});

t.test("a mirror job copies what the target lacks", async (t) => {
  const { api, source, target, vm, mirror, archives, backUp, folder } =
    await setUp(t);
  await backUp();
  t.match(await api.request("job.plan", { id: mirror }), {
    total: 1,
    items: [{ id: vm.id, repositories: [{ name: "target", missing: 1 }] }],
  });
  const first = await runJob(api, mirror);
  t.match(
    first,
    {
      status: "success",
      items: [
        {
          type: "VM",
          id: vm.id,
          repositories: [{ copied: 1, name: "target" }],
        },
      ],
    },
    JSON.stringify(first),
  );
  t.ok(Number(first["stored"]) > MIB / 2);

  await t.test("of the next backup only what differs", async (t) => {
    await backUp();
    const run = await runJob(api, mirror);
    t.match(run["items"], [{ repositories: [{ copied: 1, read: 65_536 }] }]);
    t.equal((await archives(target)).length, 2);
    const again = await runJob(api, mirror);
    t.match(again["items"], [{ repositories: [{ copied: 0 }] }]);
  });

  await t.test("the target has a retention of its own", async (t) => {
    await backUp();
    const run = await runJob(api, mirror);
    t.match(run["items"], [
      { repositories: [{ copied: 1, deleted: [String] }] },
    ]);
    t.equal((await archives(target)).length, 2);
    t.equal((await archives(source)).length, 3);
  });

  await t.test("only backups that are kept are copied", async (t) => {
    const { id: other } = await createRepository(t, api, { name: "other" });
    await api.request("job.set", {
      job: { id: mirror, repositories: [other] },
    });
    const run = await runJob(api, mirror);
    t.match(run["items"], [{ repositories: [{ copied: 2 }] }]);
    const newest = (await archives(source)).slice(0, 2);
    const shown = ({ size, timestamp }: Archive) => ({ size, timestamp });
    t.same(
      (await archives(other)).map(shown),
      newest.map(shown),
      "with the times of what was copied",
    );
    await api.request("job.set", {
      job: { id: mirror, repositories: [target] },
    });
  });

  await t.test("a copy is restored without the source", async (t) => {
    await api.request("remote.set", { id: source, enabled: false });
    const [copy] = await archives(target);
    const sr = (await api.all({ type: "SR" })).find(
      ({ content_type, size }) => content_type !== "iso" && Number(size) > 0,
    )!;
    const { id } = (await api.request("backup.restore", {
      id: copy!.id,
      sr: sr.id,
      name: "from the copy",
    })) as { id: string };
    t.match(await api.get(id), { name_label: "from the copy" });
    const run = await runJob(api, mirror);
    t.match(run, {
      status: "failure",
      error: { code: "BACKUP_REPOSITORY_DISABLED" },
    });
    await api.request("remote.set", { id: source, enabled: true });
  });

  await t.test("a target that is unreachable fails alone", async (t) => {
    const { id: third } = await createRepository(t, api, { name: "third" });
    await api.request("job.set", {
      job: { id: mirror, repositories: [target, third] },
    });
    await backUp();
    await rename(folder, `${folder}-elsewhere`);
    const run = await runJob(api, mirror);
    t.match(
      run["items"],
      [{ repositories: [{ status: "failure" }, { status: "success" }] }],
      JSON.stringify(run),
    );
    await rename(`${folder}-elsewhere`, folder);
    t.equal((await runJob(api, mirror)).status, "success");
  });
});

/** Flips a bit in the middle of each large pack. @returns their files with the bytes that they had */
async function damagePacks(folder: string): Promise<Map<string, Buffer>> {
  const before = new Map<string, Buffer>();
  const packs = join(folder, "packs");
  for (const name of await readdir(packs, { recursive: true })) {
    const path = join(packs, name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (bytes.length < MIB / 4) continue;
    before.set(path, Buffer.from(bytes));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(path, bytes);
  }
  return before;
}

t.test("copies repair the source, and the source its copies", async (t) => {
  const { api, source, target, folder, sourceFolder, mirror, backUp } =
    await setUp(t);
  await backUp();
  await runJob(api, mirror);
  for (const [id, damaged] of [
    [source, sourceFolder],
    [target, folder],
  ] as const) {
    const before = await damagePacks(damaged);
    t.ok(before.size > 0);
    const report = await api.request("backupRepository.verify", {
      id,
      all: true,
    });
    t.match(report, { findings: [], repaired: before.size });
    for (const [path, bytes] of before)
      t.ok(bytes.equals(await readFile(path)), "byte for byte");
  }

  await t.test("not while they cannot be used", async (t) => {
    await api.request("remote.set", { id: target, enabled: false });
    const { size } = await damagePacks(sourceFolder);
    const verify = { id: source, all: true };
    const report = await api.request("backupRepository.verify", verify);
    t.equal((report as { findings: [] }).findings.length, size);
    await api.request("remote.set", { id: target, enabled: true });
    t.match(await api.request("backupRepository.verify", verify), {
      findings: [],
      repaired: size,
    });
  });
});

t.test("metadata is copied, unless VMs are chosen", async (t) => {
  const { api, source, target, vm, mirror, backUp } = await setUp(t);
  const metadata = String(
    await api.request("job.create", {
      job: {
        type: "metadataBackup",
        name: "server",
        server: true,
        repositories: [source],
        retention: { keepLast: 1 },
      },
    }),
  );
  await runJob(api, metadata);
  await backUp();
  await api.request("job.set", { job: { id: mirror, vms: [vm.id] } });
  await runJob(api, mirror);
  const copies = async () =>
    (
      (await api.request("metadataBackup.getAll", {
        "backup-repository": target,
      })) as { id: string }[]
    ).length;
  t.equal(await copies(), 0);
  await api.request("job.set", { job: { id: mirror, vms: null } });
  const run = await runJob(api, mirror);
  t.equal(run.status, "success", JSON.stringify(run));
  t.equal(await copies(), 1);
  await runJob(api, metadata);
  t.equal(await copies(), 1, "the retention of the source has no effect");
});

t.test("clients of Xen Orchestra create and change mirror jobs", async (t) => {
  const { api, source, target, vm } = await setUp(t);
  const input = {
    mode: "delta",
    sourceRemote: source,
    remotes: { id: target },
  };
  const id = String(
    await api.request("mirrorBackup.createJob", {
      ...input,
      name: "theirs",
      filter: { id: { __or: [vm.id, "other"] } },
      schedules: { s1: { cron: "0 3 * * *" } },
      settings: {
        "": { concurrency: 3 },
        s1: {
          exportRetention: 5,
          longTermRetention: { weekly: { retention: 4 } },
        },
      },
    }),
  );
  const job = (await api.request("mirrorBackup.getJob", { id })) as {
    settings: Record<string, object>;
  };
  t.match(job, {
    ...input,
    id,
    type: "mirrorBackup",
    filter: { id: { __or: [vm.id, "other"] } },
  });
  t.same(Object.values(job.settings), [
    { concurrency: 3 },
    { exportRetention: 5, longTermRetention: { weekly: { retention: 4 } } },
  ]);
  const rest = await api.rest("GET", `/backup/jobs/mirror/${id}`);
  t.match(await rest.json(), { id, name: "theirs" });
  await api.request("mirrorBackup.editJob", { id, ...input, filter: {} });
  t.notOk("vms" in ((await api.request("job.get", { id })) as object));
  await api.request("mirrorBackup.runJob", { id, schedule: "" });
  const self = await api.call("mirrorBackup.createJob", {
    ...input,
    remotes: { id: source },
  });
  t.equal(codeOf(self), "INVALID_PARAMETERS");
  await api.request("mirrorBackup.deleteJob", { id });
  t.equal(
    codeOf(await api.call("mirrorBackup.getJob", { id })),
    "NO_SUCH_OBJECT",
  );
});
