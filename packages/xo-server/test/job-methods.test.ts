import t, { type Test } from "tap";
import {
  ADMIN_PASSWORD,
  startTestServer,
  type TestClient,
} from "./test-server.js";

interface Run {
  readonly id: string;
  readonly status: string;
  readonly calls?: readonly Record<string, unknown>[];
  readonly [key: string]: unknown;
}

const set = (...values: object[]) => ({
  type: "crossProduct",
  items: [{ type: "set", values }],
});
const call = (method: string, ...values: object[]) => ({
  type: "call",
  key: "genericTask",
  name: "a job",
  method,
  paramsVector: set(...values),
});

async function start(t: Test) {
  const server = await startTestServer(t);
  const admin = await (await server.connect()).signIn();
  const authorization = `Basic ${btoa(`admin:${ADMIN_PASSWORD}`)}`;
  const rest = (method: string, path: string, body?: object) =>
    server.get(`/rest/v0${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { ...server, admin, rest };
}

async function ended(admin: TestClient, id: string): Promise<Run> {
  for (;;) {
    const run = (await admin.request("jobRun.get", { id })) as Run;
    if (run.status !== "pending") return run;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

t.test("a job is created, changed and deleted", async (t) => {
  const { admin } = await start(t);
  const job = { ...call("group.create", { name: "g" }), timeout: 60_000 };
  const id = (await admin.request("job.create", { job })) as string;
  const [me] = (await admin.request("user.getAll")) as { id: string }[];
  t.same(await admin.request("job.get", { id }), {
    ...job,
    id,
    userId: me!.id,
  });
  t.ok(
    await admin.request("job.set", {
      job: { id, name: "other", timeout: null },
    }),
  );
  const { timeout, ...rest } = { ...job, id, userId: me!.id, name: "other" };
  t.ok(timeout);
  t.same(await admin.request("job.getAll"), [rest]);
  t.ok(await admin.request("job.delete", { id }));
  t.same(await admin.request("job.getAll"), []);
  t.match(await admin.call("job.get", { id }), { error: { code: 1 } });
});

t.test("an invalid job is refused", async (t) => {
  const { admin } = await start(t);
  const retention = { keepLast: 1 };
  for (const job of [
    {},
    { type: "nothing" },
    { type: "call" },
    call("job.runNow"),
    call("session.signIn"),
    call("token.create"),
    call("schedule.create"),
    { ...call("group.create"), concurrency: 0 },
    { ...call("group.create"), paramsVector: [] },
    { ...call("group.create"), other: 1 },
    { type: "snapshot", retention },
    { type: "snapshot", vms: ["a"], retention: {} },
    { type: "snapshot", vms: ["a"], retention: { keepLast: -1 } },
    { type: "snapshot", vms: ["a"], retention, timezone: "Mars/Base" },
    { type: "snapshot", filter: "name_label:(", retention },
  ])
    t.match(
      await admin.call("job.create", { job }),
      { error: { code: 10 } },
      JSON.stringify(job),
    );
  const backup = { type: "backup", vms: ["a"], repositories: ["r"], retention };
  const webHooks = ["https://hooks.example/", "https://[hooks/"];
  const report = { when: "always", webHooks };
  t.match(await admin.call("job.create", { job: { ...backup, report } }), {
    error: { data: { reason: "job/report/webHooks/1 is not a valid URL" } },
  });
  t.match(await admin.call("job.create", { job: call("no.method") }), {
    error: { code: -32601 },
  });
  const job = { ...call("group.create"), userId: "nobody" };
  t.match(await admin.call("job.create", { job }), { error: { code: 1 } });
});

t.test("a job calls an operation for each of its parameters", async (t) => {
  const { admin } = await start(t);
  const job = call("group.create", { name: "a" }, { name: "b" }, { name: "a" });
  const id = await admin.request("job.create", { job });
  const plan = await admin.request("job.plan", { id });
  t.match(plan, {
    total: 3,
    calls: [{ method: "group.create", params: { name: "a" } }, {}, {}],
  });
  const { runId } = (await admin.request("job.runNow", { id })) as {
    runId: string;
  };
  const run = await ended(admin, runId);
  t.match(run, { status: "partial", succeeded: 2, failed: 1, jobId: id });
  t.match(run.calls?.map(({ status }) => status).toSorted(), [
    "failure",
    "success",
    "success",
  ]);
  const failed = run.calls?.find(({ status }) => status === "failure");
  t.match(failed, { error: { code: "ALREADY_EXISTS" }, params: { name: "a" } });
  t.match(await admin.call("job.runNow", { id, wait: true }), {
    error: { message: /failed/ },
  });
  const { runs } = (await admin.request("jobRun.list", {
    jobId: id,
    limit: 1,
  })) as { runs: Run[] };
  t.match(runs, [{ status: "failure", failed: 3 }]);
  const { records } = (await admin.request("audit.getRecords", {
    operation: "group.create",
  })) as { records: object[] };
  t.match(records[0], {
    subject: { userIp: `job:${String(id)}`, userName: "admin" },
  });
});

t.test("a job has the rights that its user has then", async (t) => {
  const { admin } = await start(t);
  const user = async (name: string) =>
    (await admin.request("user.create", {
      email: name,
      password: "long enough",
      permission: "admin",
    })) as string;
  const ada = await user("ada");
  const eve = await user("eve");
  const jobOf = (userId: string, name: string) =>
    admin.request("job.create", {
      job: { ...call("group.create", { name }), userId },
    });
  const [adas, eves] = [await jobOf(ada, "one"), await jobOf(eve, "two")];
  t.ok(await admin.request("job.runNow", { id: adas, wait: true }));
  await admin.request("user.set", { id: ada, permission: "none" });
  await admin.request("user.delete", { id: eve });
  for (const [id, reason] of [
    [adas, /FORBIDDEN/],
    [eves, /user of the job was deleted|FORBIDDEN/],
  ] as const) {
    t.ok((await admin.call("job.runNow", { id, wait: true })).error);
    const { runs } = (await admin.request("jobRun.list", { jobId: id })) as {
      runs: Run[];
    };
    t.equal(runs[0]?.status, "failure");
    t.match(JSON.stringify(runs[0]), reason);
  }
});

t.test("secrets of a job are hidden, and used", async (t) => {
  const { admin, rest, connect } = await start(t);
  const params = { email: "ada", password: "hush hush hush" };
  const id = await admin.request("job.create", {
    job: call("user.create", params),
  });
  const logText = async () =>
    JSON.stringify([
      await admin.request("job.get", { id }),
      await admin.request("job.getAll"),
      await admin.request("job.plan", { id }),
      await (await rest("GET", "/jobs?fields=*")).json(),
      await (await rest("GET", "/job-runs?fields=*")).json(),
      await (await rest("GET", "/tasks?fields=*")).json(),
      await admin.request("audit.getRecords", {}),
    ]);
  // Sent back as it was shown, it stays.
  const shown = (await admin.request("job.get", { id })) as object;
  await admin.request("job.set", { job: { ...shown, name: "again" } });
  await admin.request("job.runNow", { id, wait: true });
  t.notMatch(await logText(), "hush");
  t.ok(await (await connect()).signIn(params.email, params.password));
});

t.test("a job has schedules", async (t) => {
  const { admin } = await start(t);
  const jobId = await admin.request("job.create", {
    job: call("group.create", { name: "g" }),
  });
  const input = {
    jobId,
    cron: "0 2 * * *",
    timezone: "Europe/Paris",
    name: "n",
  };
  const created = (await admin.request("schedule.create", input)) as {
    id: string;
  };
  const whole = {
    ...input,
    enabled: true,
    missed: "once",
    overlap: "skip",
  };
  t.same(created, { ...whole, id: created.id });
  t.ok(
    await admin.request("schedule.set", {
      id: created.id,
      enabled: false,
      timezone: null,
      name: null,
    }),
  );
  t.match(await admin.request("schedule.get", { id: created.id }), {
    enabled: false,
    name: "",
    timezone: undefined,
  });
  await admin.request("schedule.create", { jobId, cron: "@weekly" });
  t.equal(((await admin.request("schedule.getAll")) as object[]).length, 2);
  for (const wrong of [
    { cron: "x" },
    { cron: "61 * * * *" },
    { timezone: "Mars/Base" },
    { missed: "twice" },
  ]) {
    t.match(await admin.call("schedule.create", { ...input, ...wrong }), {
      error: { code: 10 },
    });
    t.match(await admin.call("schedule.set", { id: created.id, ...wrong }), {
      error: { code: 10 },
    });
  }
  t.match(await admin.call("schedule.create", { ...input, jobId: "x" }), {
    error: { code: 1 },
  });
  t.ok(
    await admin.request("schedule.runSequence", { schedules: [created.id] }),
  );
  const { runs } = (await admin.request("jobRun.list", {})) as { runs: Run[] };
  t.match(runs, [{ status: "success", scheduleId: created.id }]);
  t.ok(await admin.request("schedule.delete", { id: created.id }));
  await admin.request("job.delete", { id: jobId });
  t.same(await admin.request("schedule.getAll"), []);
  t.equal(
    ((await admin.request("jobRun.list", {})) as { runs: Run[] }).runs.length,
    1,
    "the log stays",
  );
});

t.test("a sequence stops at the first job that fails", async (t) => {
  const { admin } = await start(t);
  const ids: string[] = [];
  for (const name of ["a", "a", "b"])
    ids.push(
      (await admin.request("job.create", {
        job: call("group.create", { name }),
      })) as string,
    );
  t.ok((await admin.call("job.runSequence", { idSequence: ids })).error);
  const groups = (await admin.request("group.getAll")) as { name: string }[];
  t.same(
    groups.map(({ name }) => name),
    ["a"],
  );
});

t.test("a job may be a sequence of schedules, but not of itself", async (t) => {
  const { admin } = await start(t);
  const create = (job: object) => admin.request("job.create", { job });
  const schedule = async (jobId: unknown) =>
    (await admin.request("schedule.create", { jobId, cron: "@yearly" })) as {
      id: string;
    };
  const created = await schedule(
    await create(call("group.create", { name: "g" })),
  );
  const schedules = [created.id];
  const sequence = await create(call("schedule.runSequence", { schedules }));
  t.ok(await admin.request("job.runNow", { id: sequence, wait: true }));
  t.equal(((await admin.request("group.getAll")) as object[]).length, 1);
  const own = await schedule(sequence);
  await admin.request("job.set", {
    job: {
      id: sequence,
      paramsVector: set({ schedules: [own.id] }),
    },
  });
  await admin.call("job.runNow", { id: sequence, wait: true });
  const { runs } = (await admin.request("jobRun.list", {
    jobId: sequence,
  })) as {
    runs: Run[];
  };
  t.match(
    runs.find(({ status }) => status === "failure"),
    { calls: [{ error: { code: "INCORRECT_STATE" } }] },
  );
});

t.test("jobs are for admins", async (t) => {
  const { admin, connect } = await start(t);
  await admin.request("user.create", { email: "bob", password: "long enough" });
  const bob = await (await connect()).signIn("bob", "long enough");
  const id = "x";
  const job = call("group.create", { name: "g" });
  const denied: Readonly<Record<string, object>> = {
    "job.getAll": {},
    "job.get": { id },
    "job.plan": { id },
    "job.create": { job },
    "job.set": { job: { id } },
    "job.delete": { id },
    "job.runNow": { id },
    "job.runSequence": { idSequence: [id] },
    "job.cancel": { runId: id },
    "jobRun.list": {},
    "jobRun.getAll": {},
    "jobRun.get": { id },
    "schedule.getAll": {},
    "schedule.get": { id },
    "schedule.create": { jobId: id, cron: "@daily" },
    "schedule.set": { id },
    "schedule.delete": { id },
    "schedule.run": { id },
    "schedule.runSequence": { schedules: [id] },
  };
  for (const [method, params] of Object.entries(denied))
    t.match(await bob.call(method, params), { error: { code: 2 } }, method);
});
