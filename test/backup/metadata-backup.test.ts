import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD, type Answer } from "../api-session.js";
import { startControlled, type ControlledPools } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { runJob } from "./vm-with-disks.js";

t.comment("timeout=600000");

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

interface Backup {
  readonly id: string;
  readonly type: "pool" | "xo";
  readonly timestamp: number;
  readonly size: number;
}

async function setUp(t: Test, more: object = {}) {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api } = controlled;
  const { id: repository, folder } = await createRepository(t, api);
  const [pool] = await api.all({ type: "pool" });
  const job = {
    type: "metadataBackup",
    name: "pools and server",
    pools: [pool!.id],
    server: true,
    repositories: [repository],
    retention: { keepLast: 2 },
    ...more,
  };
  const id = String(await api.request("job.create", { job }));
  const backups = async () =>
    (await api.request("metadataBackup.getAll")) as Backup[];
  const newest = async (type: Backup["type"]) =>
    (await backups()).find((one) => one.type === type)!;
  return {
    ...controlled,
    repository,
    folder,
    pool: pool!.id,
    id,
    backups,
    newest,
  };
}

function nameOf(
  { record }: Pick<ControlledPools, "record">,
  pool: string,
): unknown {
  return record("pool", pool)["name_label"];
}

t.test("databases of pools and the configuration are backed up", async (t) => {
  const { api, id, pool, repository, backups, newest } = await setUp(t);
  t.match(await api.request("job.plan", { id }), {
    total: 2,
    items: [{ type: "pool", id: pool }, { type: "configuration" }],
  });
  const run = await runJob(api, id);
  t.match(
    run,
    {
      status: "success",
      succeeded: 2,
      items: [
        { type: "pool", id: pool, repositories: [{ status: "success" }] },
        { type: "configuration", repositories: [{ status: "success" }] },
      ],
    },
    JSON.stringify(run),
  );
  t.equal((await backups()).length, 2);
  const dump = await newest("pool");
  t.ok(dump.size > 10_000, "the dump has a size that was not known before");
  const listed = await api.request("metadataBackup.list", {
    remotes: [repository],
  });
  t.match(listed, {
    pool: { [repository]: { [pool]: [{ id: dump.id, jobId: id }] } },
    xo: { [repository]: [{ type: "xo", jobName: "pools and server" }] },
  });
  t.notMatch(JSON.stringify(listed), /passphrase/);
  const rest = await api.rest("GET", "/metadata-backups?fields=id,type");
  t.equal(((await rest.json()) as object[]).length, 2);

  await t.test("they are not backups of VMs", async (t) => {
    t.same(await api.request("backupArchive.getAll"), []);
    for (const [method, params] of [
      ["backupArchive.get", {}],
      ["backup.downloadDisk", { disk: "configuration" }],
      ["backup.downloadVm", {}],
      ["backupNg.deleteVmBackup", {}],
    ] as const) {
      const answer = await api.call(method, { id: dump.id, ...params });
      t.equal(codeOf(answer), "NO_SUCH_OBJECT", method);
    }
  });

  await t.test("the retention counts each by itself", async (t) => {
    await runJob(api, id);
    const third = await runJob(api, id);
    t.equal((await backups()).length, 4);
    t.match(third["items"], [
      { repositories: [{ deleted: [String] }] },
      { repositories: [{ deleted: [String] }] },
    ]);
  });

  await t.test("one is deleted", async (t) => {
    const { id } = await newest("xo");
    await api.request("metadataBackup.delete", { id });
    t.equal((await backups()).length, 3);
    const again = await api.call("metadataBackup.delete", { id });
    t.equal(codeOf(again), "NO_SUCH_OBJECT");
  });

  await t.test("logs have the shape of Xen Orchestra's", async (t) => {
    const [log] = (await api.request("backupNg.getLogs", { jobId: id })) as {
      readonly tasks: readonly { readonly data: { readonly type: string } }[];
    }[];
    // Both items begin at the same time.
    const tasks = log!.tasks.toSorted((one, other) =>
      one.data.type.localeCompare(other.data.type),
    );
    t.match(
      { ...log, tasks },
      {
        jobId: id,
        message: "backup",
        status: "success",
        tasks: [
          {
            data: { type: "pool", id: pool },
            tasks: [{ data: { type: "remote", id: repository } }],
          },
          { data: { type: "xo" } },
        ],
      },
    );
  });
});

t.test(
  "the database of a pool is restored after the pool has checked it",
  async (t) => {
    const controlled = await setUp(t, { server: false });
    const { api, id, pool, pools, newest } = controlled;
    const before = nameOf(controlled, pool);
    t.equal((await runJob(api, id)).status, "success");
    const backup = (await newest("pool")).id;
    await api.request("pool.set", { id: pool, name_label: "changed" });
    t.equal(nameOf(controlled, pool), "changed");
    await api.request("metadataBackup.restore", { id: backup, dryRun: true });
    t.equal(nameOf(controlled, pool), "changed", "a dry run changes nothing");
    // Comes before the successful restore, because that restarts the toolstack.
    await t.test("a pool that refuses it keeps its database", async (t) => {
      pools[0]!.failNext(
        "http/put_pool_xmldbdump",
        "RESTORE_INCOMPATIBLE_VERSION",
        [],
      );
      const refused = await api.call("metadataBackup.restore", { id: backup });
      t.match(JSON.stringify(refused.error), /RESTORE_INCOMPATIBLE_VERSION/);
      t.equal(nameOf(controlled, pool), "changed");
    });
    await api.request("metadataBackup.restore", { id: backup });
    t.equal(nameOf(controlled, pool), before);
    const logs = (await api.request("restoreLog.getAll")) as object[];
    t.match(logs[0], { status: "success", data: { backup } });
  },
);

t.test("the configuration is restored", async (t) => {
  const { api, id, url, newest } = await setUp(t, { pools: [] });
  await api.request("user.create", {
    email: "bob",
    password: "a password 123",
  });
  t.equal((await runJob(api, id)).status, "success");
  const users = (await api.request("user.getAll")) as {
    id: string;
    name: string;
  }[];
  const bob = users.find(({ name }) => name === "bob")!;
  await api.request("user.delete", { id: bob.id });
  const { id: backup } = await newest("xo");
  const wrong = await api.call("metadataBackup.restore", {
    id: backup,
    dryRun: true,
  });
  t.equal(codeOf(wrong), "INVALID_PARAMETERS");
  const restoredAt = Date.now();
  await api.request("metadataBackup.restore", { id: backup });
  await t.test("sizes of repositories are read again", async (t) => {
    const admin = await ApiSession.open(t, url, "admin", PASSWORD);
    for (;;) {
      const [shown] = (await admin.request("remote.getAll")) as [
        { readonly state: { readonly inspectedAt?: number } },
      ];
      const { inspectedAt = 0 } = shown.state;
      if (inspectedAt >= restoredAt) return t.pass(String(inspectedAt));
      await sleep(50);
    }
  });
  const again = await ApiSession.open(t, url, "bob", "a password 123");
  const refused = await again.call("metadataBackup.getAll");
  t.equal(
    codeOf(refused),
    "FORBIDDEN",
    "bob is back, and is not an administrator",
  );
  const others = await again.call("metadataBackup.restore", { id: backup });
  t.equal(codeOf(others), "FORBIDDEN");
});

t.test("clients of Xen Orchestra create and change jobs", async (t) => {
  const { api, repository, pool } = await setUp(t);
  const id = String(
    await api.request("metadataBackup.createJob", {
      name: "theirs",
      pools: { id: pool },
      remotes: { id: repository },
      xoMetadata: true,
      schedules: { s1: { cron: "0 3 * * *" } },
      settings: { s1: { retentionPoolMetadata: 5, retentionXoMetadata: 9 } },
    }),
  );
  const job = (await api.request("metadataBackup.getJob", { id })) as {
    settings: Record<string, object>;
  };
  t.match(job, {
    id,
    type: "metadataBackup",
    pools: { id: pool },
    remotes: { id: repository },
    xoMetadata: true,
  });
  t.same(Object.values(job.settings), [
    { retentionPoolMetadata: 5, retentionXoMetadata: 9 },
  ]);
  const rest = await api.rest("GET", "/backup/jobs/metadata?fields=id,name");
  t.match(await rest.json(), [{ name: "pools and server" }, { id }]);
  await api.request("metadataBackup.editJob", { id, pools: null });
  t.match(await api.request("job.get", { id }), { pools: [], server: true });
  const [schedule] = Object.keys(job.settings);
  await api.request("metadataBackup.runJob", { id, schedule });
  const nothing = await api.call("metadataBackup.editJob", {
    id,
    xoMetadata: false,
  });
  t.equal(codeOf(nothing), "INVALID_PARAMETERS");
  await api.request("metadataBackup.deleteJob", { id });
  const gone = await api.call("metadataBackup.getJob", { id });
  t.equal(codeOf(gone), "NO_SUCH_OBJECT");
});

t.test("a repository that cannot be reached fails alone", async (t) => {
  const { api, id, pool } = await setUp(t, { server: false });
  const { id: second } = await createRepository(t, api, { name: "second" });
  const { repositories } = (await api.request("job.get", { id })) as {
    repositories: string[];
  };
  await api.request("job.set", {
    job: { id, repositories: [...repositories, second] },
  });
  await api.request("remote.set", { id: repositories[0], enabled: false });
  const run = await runJob(api, id);
  t.match(run, {
    status: "failure",
    items: [
      {
        id: pool,
        repositories: [
          { status: "failure", error: { code: "BACKUP_REPOSITORY_DISABLED" } },
          { status: "success" },
        ],
      },
    ],
  });
});
