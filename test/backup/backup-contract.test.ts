import t from "tap";
import type { Answer, ApiSession } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";

t.comment("timeout=300000");

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

interface ContractJob {
  readonly id: string;
  readonly settings: Readonly<Record<string, Record<string, unknown>>>;
  readonly [key: string]: unknown;
}

async function schedulesOf(api: ApiSession, jobId: string) {
  const all = (await api.request("schedule.getAll")) as {
    id: string;
    jobId: string;
    cron: string;
  }[];
  return all.filter((one) => one.jobId === jobId);
}

t.test("clients of Xen Orchestra create and change jobs", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api } = controlled;
  const { id: repository } = await createRepository(t, api);
  const [vm, other] = (await api.all({ type: "VM" })).map(({ id }) => id);
  const id = String(
    await api.request("backupNg.createJob", {
      name: "nightly",
      mode: "delta",
      compression: "zstd",
      remotes: { id: repository },
      vms: { id: vm },
      schedules: { s1: { cron: "0 0 * * *", name: "midnight" } },
      settings: {
        "": {
          concurrency: 3,
          nRetriesVmBackupFailures: 2,
          reportWhen: "always",
          maxExportRate: 0,
        },
        s1: {
          exportRetention: 7,
          longTermRetention: {
            weekly: { retention: 4, settings: {} },
            yearly: { retention: 1, settings: {} },
          },
        },
      },
    }),
  );

  await t.test("as it was created", async (t) => {
    const [schedule] = await schedulesOf(api, id);
    t.match(schedule, { cron: "0 0 * * *", name: "midnight" });
    const job = (await api.request("backupNg.getJob", { id })) as ContractJob;
    t.match(job, {
      id,
      type: "backup",
      name: "nightly",
      mode: "delta",
      compression: "zstd",
      remotes: { id: repository },
      vms: { id: vm },
      settings: {
        "": {
          concurrency: 3,
          nRetriesVmBackupFailures: 2,
          reportWhen: "always",
        },
        [schedule!.id]: {
          exportRetention: 7,
          longTermRetention: {
            weekly: { retention: 4 },
            yearly: { retention: 1 },
          },
        },
      },
    });
    t.notOk("s1" in job.settings);
    t.match(await api.request("job.get", { id }), {
      type: "backup",
      repositories: [repository],
      retries: 2,
      schedules: {
        [schedule!.id]: {
          retention: { keepLast: 7, keepWeekly: 4, keepYearly: 1 },
        },
      },
    });
    for (const path of ["/backup-jobs", "/backup/jobs/vm"]) {
      const all = await api.rest("GET", `${path}?fields=*`);
      t.match(await all.json(), [{ id, name: "nightly" }]);
      const one = await api.rest("GET", `${path}/${id}`);
      t.match(await one.json(), { id, name: "nightly" });
    }
  });

  await t.test("as it was changed", async (t) => {
    await api.request("backupNg.editJob", {
      id,
      mode: "full",
      vms: { type: "VM", power_state: "Running", tags: { __not: [["x"]] } },
      settings: { "": { concurrency: 1, nRetriesVmBackupFailures: null } },
    });
    const job = (await api.request("backupNg.getJob", { id })) as ContractJob;
    t.match(job, {
      name: "nightly",
      mode: "full",
      vms: { type: "VM", power_state: "Running", tags: { __not: [["x"]] } },
      settings: { "": { concurrency: 1, reportWhen: "always" } },
    });
    t.notOk("nRetriesVmBackupFailures" in job.settings[""]!);
    const plan = (await api.request("job.plan", { id })) as { total: number };
    const running = await api.all({ type: "VM", power_state: "Running" });
    t.equal(plan.total, running.length);
    const { id: any } = running[0]!;
    t.match(await api.request("vm.getBackupJobs", { id: any }), [{ id }]);
    const jobs = await api.rest("GET", `/vms/${any}/backup-jobs?fields=id`);
    t.match(await jobs.json(), [{ id }]);
  });

  await t.test("which VMs are backed up", async (t) => {
    await api.request("backupNg.editJob", { id, vms: { id: vm } });
    await api.request("tag.add", { id: other, tag: "xo:no-bak=test" });
    const vms = await api.all({ type: "VM" });
    const coverage = (await api.request("backup.coverage")) as Record<
      string,
      { vm: string }[]
    >;
    t.match(coverage["protected"], [{ vm, jobs: [id] }]);
    t.match(coverage["excluded"], [
      { vm: other, excluded: "it has the tag xo:no-bak=test" },
    ]);
    t.equal(coverage["notProtected"]?.length, vms.length - 2);
    t.match(coverage["next"], [{ jobId: id, at: Number }]);
  });

  await t.test("what is refused", async (t) => {
    const job = { mode: "delta", vms: { id: vm }, remotes: { id: repository } };
    const refused = async (change: object) =>
      codeOf(await api.call("backupNg.createJob", { ...job, ...change }));
    t.equal(await refused({ srs: { id: "x" } }), "UNSUPPORTED");
    t.equal(await refused({ proxy: "x" }), "UNSUPPORTED");
    t.equal(await refused({ remotes: {} }), "INVALID_PARAMETERS");
    t.equal(await refused({ remotes: { id: "none" } }), "NO_SUCH_OBJECT");
    t.equal(
      await refused({ schedules: { s: { cron: "never" } } }),
      "INVALID_PARAMETERS",
    );
    const jobs = (await api.request("backupNg.getAllJobs")) as object[];
    t.equal(jobs.length, 1, "nothing is left of what was refused");
    const calls = await api.request("job.create", {
      job: { type: "call", method: "vm.start" },
    });
    const answer = await api.call("backupNg.getJob", { id: calls });
    t.equal(codeOf(answer), "NO_SUCH_OBJECT");
  });

  await t.test("logs of runs", async (t) => {
    await api.request("vm.set", {
      id: vm,
      blockedOperations: { snapshot: true },
    });
    await api.call("backupNg.runJob", { id, schedule: "" });
    const [log] = (await api.request("backupNg.getLogs", { jobId: id })) as {
      id: string;
    }[];
    t.match(log, {
      jobId: id,
      jobName: "nightly",
      message: "backup",
      status: "failure",
      data: { mode: "full" },
      tasks: [
        {
          message: "backup VM",
          status: "failure",
          data: { type: "VM", id: vm },
          result: { message: /snapshots are blocked/ },
        },
      ],
    });
    t.match(await api.request("backupNg.getAllLogs"), { [log!.id]: log });
    const logs = await api.rest("GET", "/backup-logs?fields=*");
    t.match(await logs.json(), [{ id: log!.id, status: "failure" }]);
    const one = await api.rest("GET", `/backup-logs/${log!.id}`);
    t.match(await one.json(), { id: log!.id, jobId: id });
    const none = await api.request("backupNg.getLogs", { jobId: "x" });
    t.same(none, []);
  });

  await api.request("backupNg.deleteJob", { id });
  t.same(await api.request("backupNg.getAllJobs"), []);
});

t.test("users without admin rights see no jobs", async (t) => {
  const { api } = await startControlled(t, { hosts: 1, vms: 6 });
  const { session: bob } = await api.signUp(t, "bob");
  t.same(await bob.request("backupNg.getAllJobs"), []);
  t.same(await bob.request("backupLog.getAll"), []);
  for (const [method, params] of [
    ["backupNg.createJob", { mode: "full", vms: { id: "x" } }],
    ["backupNg.runJob", { id: "x", schedule: "" }],
    ["backupNg.deleteJob", { id: "x" }],
    ["backup.coverage", {}],
  ] as const)
    t.equal(codeOf(await bob.call(method, params)), "FORBIDDEN", method);
});
