import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD, type Thing } from "./api-session.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

interface Run {
  readonly id: string;
  readonly status: string;
  readonly scheduleId?: string;
  readonly taskId?: string;
  readonly calls?: readonly {
    readonly method: string;
    readonly params: { readonly id?: string };
    readonly status: string;
    readonly error?: { readonly code: string };
  }[];
}

/** A simulated pool that keeps running, and a server that can be killed and started again. */
async function setUp(t: Test, ...pool: string[]) {
  const [simulated] = await simulate(t, ...pool);
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${simulated!.url}"], password: ${simulated!.password} }]`,
  });
  const start = async () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    return { server, api: await ApiSession.open(t, url) };
  };
  /** The next such call fails, or is delayed by a number of ms. */
  const upset = async (how: object) => {
    const init = { method: "POST", body: JSON.stringify(how) };
    const answer = await fetch(`${simulated!.url}/sim/fail`, init);
    if (!answer.ok) throw new Error(await answer.text());
  };
  /** Resolves when the pool has received the calls that the faults apply to. */
  const received = () =>
    until(async () => {
      const answer = await fetch(`${simulated!.url}/sim`);
      const { injectedErrors } = (await answer.json()) as {
        injectedErrors: readonly unknown[];
      };
      return injectedErrors.length === 0 ? true : undefined;
    });
  return { start, upset, received };
}

async function runsOf(api: ApiSession, jobId: unknown): Promise<Run[]> {
  const page = await api.request("jobRun.list", { jobId });
  return (page as { runs: Run[] }).runs;
}

/** Runs the job. @returns its log */
async function run(api: ApiSession, id: unknown): Promise<Run> {
  await api.call("job.runNow", { id, wait: true });
  return (await runsOf(api, id))[0]!;
}

/** Repeats until there is a result. */
async function until<T>(request: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await request();
    if (found !== undefined) return found;
    await pause(50);
  }
}

const snapshotsOf = async (api: ApiSession, vm: string) =>
  api.all({ type: "VM-snapshot", $snapshot_of: vm });
const namesOf = (things: readonly Thing[]) =>
  things.map(({ name_label }) => String(name_label)).toSorted();

t.test(
  "a job that is not resumed after a crash runs as a task of REST",
  LIMIT,
  async (t) => {
    const { start } = await setUp(t);
    const { api } = await start();
    const [vm] = (await api.all({ type: "VM" })) as [Thing];
    const job = {
      type: "call",
      name: "snapshot",
      method: "vm.snapshot",
      paramsVector: {
        type: "crossProduct",
        items: [{ type: "set", values: [{ id: vm.id }] }],
      },
    };
    const id = await api.request("job.create", { job });
    const answer = await api.rest(
      "POST",
      `/jobs/${String(id)}/actions/run`,
      {},
    );
    t.equal(answer.status, 202);
    const { taskId } = (await answer.json()) as { taskId: string };
    const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await task.json(), { status: "success" });
    t.match(await runsOf(api, id), [
      { status: "success", taskId, calls: [{ status: "success" }] },
    ]);
  },
);

t.test(
  "a snapshot job takes snapshots, and deletes its own",
  LIMIT,
  async (t) => {
    const { start, upset } = await setUp(t, "--hosts", "1", "--vms", "8");
    const { api } = await start();
    const vms = await api.all({ type: "VM" });
    const [a, b, excluded] = vms.map(({ id }) => id) as [
      string,
      string,
      string,
    ];
    for (const id of [a, b, excluded])
      await api.request("vm.set", { id, tags: ["kept"] });
    await api.request("tag.add", { id: excluded, tag: "xo:no-bak" });
    const theirs = (await api.request("vm.snapshot", {
      id: a,
      name: "theirs",
    })) as string;
    const job = {
      type: "snapshot",
      name: "nightly",
      filter: "tags:/^kept$/",
      retention: { keepLast: 2 },
      namePattern: "{job} of {vm} {date} {time}",
    };
    const id = await api.request("job.create", { job });
    const plan = (await api.request("job.plan", { id })) as {
      snapshots: { vm: string; delete: object[] }[];
    };
    t.same(plan.snapshots.map(({ vm }) => vm).toSorted(), [a, b].toSorted());
    t.match(plan.snapshots, [
      { create: /^nightly of .+ \d{4}-/, delete: [] },
      {},
    ]);

    await t.test("as many as the retention allows", async (t) => {
      t.equal((await run(api, id)).status, "success");
      const [first] = await snapshotsOf(api, b);
      t.match(first, {
        name_label: /^nightly of/,
        other: { "xo:snapshot-policy": id },
      });
      await run(api, id);
      // Changed tags reach the mirror with a delay.
      const planned = await until(async () => {
        const { snapshots } = (await api.request("job.plan", {
          id,
        })) as typeof plan;
        const isComplete = snapshots.every((one) => one.delete.length > 0);
        return isComplete ? snapshots : undefined;
      });
      t.match(planned, [{ delete: [{ name: /^nightly/ }] }, { delete: [{}] }]);
      const third = await run(api, id);
      t.same(third.calls?.map(({ method }) => method).toSorted(), [
        "vm.delete",
        "vm.delete",
        "vm.snapshot",
        "vm.snapshot",
      ]);
      t.equal((await snapshotsOf(api, b)).length, 2);
      t.notOk((await snapshotsOf(api, b)).some((one) => one.id === first!.id));
      t.equal((await snapshotsOf(api, a)).length, 3);
      t.equal((await snapshotsOf(api, excluded)).length, 0);
    });

    await t.test(
      "never snapshots of others, even with its marks",
      async (t) => {
        const own = (await snapshotsOf(api, b))[0]!;
        await api.request("vm.revert", { snapshot: own.id });
        const manual = (await api.request("vm.snapshot", {
          id: b,
          name: "mine",
        })) as string;
        const copy = (await api.request("vm.clone", {
          id: own.id,
          name: "copy",
        })) as string;
        await api.request("vm.set", { id: copy, tags: ["kept"] });
        const marked = (await api.request("vm.snapshot", {
          id: copy,
          name: "of a copy",
        })) as string;
        for (let i = 0; i < 3; i++)
          t.equal((await run(api, id)).status, "success");
        const left = await api.all({ type: "VM-snapshot" });
        for (const one of [theirs, manual, marked])
          t.ok(left.some((snapshot) => snapshot.id === one));
        t.same(
          namesOf(await snapshotsOf(api, b)).filter((name) => name === "mine")
            .length,
          1,
        );
        t.equal((await snapshotsOf(api, b)).length, 3);
      },
    );

    await t.test(
      "a failure at one VM does not affect the others",
      async (t) => {
        const before = await snapshotsOf(api, a);
        await api.request("vm.set", {
          id: a,
          blockedOperations: { snapshot: "no" },
        });
        const { status, calls } = await run(api, id);
        t.equal(status, "partial");
        t.match(
          calls?.filter((call) => call.status === "failure"),
          [{ params: { id: a }, error: { code: "OPERATION_BLOCKED" } }],
        );
        t.same(
          new Set((await snapshotsOf(api, a)).map((one) => one.id)),
          new Set(before.map((one) => one.id)),
          "nothing is deleted where nothing was made",
        );
        await api.request("vm.set", {
          id: a,
          blockedOperations: { snapshot: null },
        });
      },
    );

    await t.test("objects that cannot be marked are deleted", async (t) => {
      const before = (await api.all({ type: "VM-snapshot" })).length;
      await upset({
        method: "VM.add_to_other_config",
        error: "INTERNAL_ERROR",
        params: ["x"],
      });
      const { status } = await run(api, id);
      t.equal(status, "partial");
      t.equal((await api.all({ type: "VM-snapshot" })).length, before);
    });
  },
);

t.test("a job reads the present state when it runs", LIMIT, async (t) => {
  const { start } = await setUp(t, "--hosts", "1", "--vms", "4");
  const { api } = await start();
  const job = {
    type: "call",
    key: "genericTask",
    method: "vm.set",
    paramsVector: {
      type: "crossProduct",
      items: [
        {
          type: "map",
          collection: {
            type: "fetchObjects",
            pattern: { type: "VM", tags: ["seen"] },
          },
          iteratee: { type: "extractProperties", mapping: { id: "id" } },
        },
        { type: "set", values: [{ name_description: "touched" }] },
      ],
    },
  };
  const id = await api.request("job.create", { job });
  t.match(await run(api, id), {
    status: "failure",
    error: { message: /no object matches/ },
  });
  const [one, two] = (await api.all({ type: "VM" })) as [Thing, Thing];
  await api.request("vm.set", { id: one.id, tags: ["seen"] });
  t.match(await run(api, id), { status: "success", succeeded: 1 });
  await api.request("vm.set", { id: two.id, tags: ["other", "seen"] });
  t.match(await run(api, id), { status: "success", succeeded: 2 });
  t.match(await api.get(two.id), { name_description: "touched" });

  await t.test("when its schedule is due", async (t) => {
    const { id: schedule } = (await api.request("schedule.create", {
      jobId: id,
      cron: "* * * * * *",
    })) as { id: string };
    const found = await until(async () =>
      (await runsOf(api, id)).find(
        ({ scheduleId, status }) =>
          scheduleId === schedule && status === "success",
      ),
    );
    await api.request("schedule.set", { id: schedule, enabled: false });
    const task = await api.rest("GET", `/tasks/${found.taskId!}`);
    t.match(await task.json(), {
      status: "success",
      properties: {
        objectType: "job",
        objectId: id,
        params: { run: found.id },
      },
      tasks: [{ properties: { name: "vm.set" } }, {}],
    });
  });

  await t.test("with the rights of its user", async (t) => {
    const userId = await api.request("user.create", {
      email: "eve",
      password: "a long word",
    });
    await api.request("job.set", { job: { id, userId } });
    t.match(await run(api, id), {
      status: "failure",
      error: { message: /no object matches/ },
    });
    const named = {
      ...job,
      userId,
      paramsVector: { type: "set", values: [{ id: one.id }] },
    };
    const denied = await api.request("job.create", { job: named });
    t.match((await run(api, denied)).calls, [
      { status: "failure", error: { code: "NO_SUCH_OBJECT" } },
    ]);
  });
});

t.test("runs are cut short", LIMIT, async (t) => {
  const { start, upset, received } = await setUp(
    t,
    "--hosts",
    "1",
    "--vms",
    "6",
  );
  const { server, api } = await start();
  const vms = await api.all({ type: "VM" });
  const [first, second] = vms.map(({ id }) => id);
  const jobOf = (more: object = {}) => ({
    type: "call",
    method: "vm.snapshot",
    concurrency: 1,
    ...more,
    paramsVector: { type: "set", values: [{ id: first }, { id: second }] },
  });
  const create = (job: object) => api.request("job.create", { job });

  await t.test("a call that times out", async (t) => {
    const id = await create(jobOf({ timeout: 500 }));
    await upset({ method: "VM.snapshot", delayMs: 3_600_000 });
    t.match(await run(api, id), {
      status: "partial",
      calls: [
        { params: { id: first }, error: { code: "CALL_TIMEOUT" } },
        { params: { id: second }, status: "success" },
      ],
    });
  });

  await t.test("cancelled by its caller", async (t) => {
    const id = await create(jobOf());
    await upset({ method: "VM.snapshot", delayMs: 3_600_000 });
    const { runId } = (await api.request("job.runNow", { id })) as {
      runId: string;
    };
    t.match(await api.call("job.runNow", { id }), { error: { code: 25 } });
    await received();
    await api.request("job.cancel", { runId });
    const [skipped, aborted] = await until(async () => {
      const runs = await runsOf(api, id);
      return runs[1]?.status === "pending" ? undefined : runs;
    });
    t.match(aborted, { id: runId, status: "aborted", notBegun: 1 });
    t.match(skipped, { status: "skipped" });
    t.match(await api.call("job.cancel", { runId }), { error: { code: 5 } });
  });

  await t.test("by the death of the server", async (t) => {
    const id = await create(jobOf());
    await upset({ method: "VM.snapshot", delayMs: 3_600_000 });
    await api.request("job.runNow", { id });
    await received();
    await server.stop("SIGKILL");
    const { api: later } = await start();
    const [found] = await runsOf(later, id);
    t.equal(found?.status, "interrupted");
    t.match(await run(later, id), { status: "success" });
  });
});
