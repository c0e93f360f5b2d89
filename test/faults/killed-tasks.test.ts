import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { untilBegun } from "../pool-tasks.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

interface Task {
  readonly id: string;
  readonly status: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly tasks: readonly Task[];
  readonly properties: Readonly<Record<string, unknown>>;
}

interface AuditRow {
  readonly data: { readonly objectId: string; readonly outcome: string };
}

/** One simulated pool that keeps running, and a server that can be killed and started again. */
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
    return { server, session: await ApiSession.open(t, url) };
  };
  /** Delays the next call of this method, in ms. */
  const slow = async (method: string, delayMs: number) => {
    const body = JSON.stringify({ method, delayMs });
    const init = { method: "POST", body };
    const answer = await fetch(`${simulated!.url}/sim/fail`, init);
    if (!answer.ok) throw new Error(await answer.text());
  };
  return { start, slow };
}

async function taskOf(session: ApiSession, id: string, query = "") {
  const answer = await session.rest("GET", `/tasks/${id}${query}`);
  return (await answer.json()) as Task;
}

/** Repeats until the condition holds. */
async function until(
  session: ApiSession,
  id: string,
  isMet: (task: Task) => boolean,
): Promise<Task> {
  for (;;) {
    const task = await taskOf(session, id);
    if (isMet(task)) return task;
    await pause(20);
  }
}

const count = ({ counts }: Task, name: string) => counts?.[name] ?? 0;

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  t.test(
    `VMs that a server with ${signal} was starting are all started, each once`,
    LIMIT,
    async (t) => {
      const { start } = await setUp(t, "--hosts", "8", "--vms", "300");
      const first = await start();
      const halted = await first.session.all({
        type: "VM",
        power_state: "Halted",
      });
      const ids = halted.map(({ id }) => id);
      t.ok(ids.length > 15, `${ids.length} VMs`);
      const { taskId } = (await first.session.request("bulk.run", {
        method: "vm.start",
        ids,
        concurrency: 6,
      })) as { taskId: string };
      const before = await until(
        first.session,
        taskId,
        (task) => count(task, "succeeded") >= 5 && count(task, "running") > 3,
      );
      t.equal(before.status, "pending");
      await first.server.stop(signal);

      const { session } = await start();
      const task = await taskOf(session, taskId, "?wait=true");
      t.match(task, {
        status: "success",
        counts: { total: ids.length, succeeded: ids.length, running: 0 },
        result: { succeeded: ids.length, failed: [] },
      });
      const off = await session.all({ type: "VM", power_state: "Halted" });
      t.same(off, []);
      const { records } = (await session.request("audit.getRecords", {
        operation: "vm.start",
        limit: 1_000,
      })) as { records: readonly AuditRow[] };
      // The outcome of starts that were in progress when the server was killed may also be unknown.
      const started = records
        .filter(({ data }) => data.outcome !== "unknown")
        .map(({ data }) => `${data.objectId} ${data.outcome}`);
      t.same(
        [...new Set(started)].toSorted(),
        ids.map((id) => `${id} success`).toSorted(),
        "each is in the audit log, and none failed",
      );
    },
  );

t.test(
  "a migration that continues in the pool is found again and completes the task",
  LIMIT,
  async (t) => {
    const { start, slow } = await setUp(t);
    const first = await start();
    const [vm] = await first.session.all({
      type: "VM",
      power_state: "Running",
    });
    const hosts = await first.session.all({ type: "host" });
    const target = hosts.find(({ id }) => id !== vm!["$container"])!;
    await slow("VM.pool_migrate", 20_000);
    const answer = await first.session.rest(
      "POST",
      `/vms/${vm!.id}/actions/migrate`,
      { hostId: target.id },
    );
    const { taskId } = (await answer.json()) as { taskId: string };
    await untilBegun(first.session, "VM.pool_migrate");
    await first.server.stop("SIGKILL");

    const { session } = await start();
    const again = await taskOf(session, taskId);
    t.equal(again.status, "pending", "it continues");
    const task = await taskOf(session, taskId, "?wait=true");
    t.match(task, {
      status: "success",
      tasks: [
        { status: "success", properties: { name: "XAPI: VM.pool_migrate" } },
      ],
    });
    t.equal(task.tasks.length, 1, "the pool received one request");
    const moved = await session.get(vm!.id);
    t.match(moved, { power_state: "Running", $container: target.id });
  },
);

t.test(
  "a snapshot that the pool takes meanwhile completes its task with its id",
  LIMIT,
  async (t) => {
    const { start, slow } = await setUp(t);
    const first = await start();
    const [vm] = await first.session.all({
      type: "VM",
      power_state: "Running",
    });
    await slow("VM.snapshot", 10_000);
    const answer = await first.session.rest(
      "POST",
      `/vms/${vm!.id}/actions/snapshot`,
      { name_label: "before the upgrade", description: "with all disks" },
    );
    const { taskId } = (await answer.json()) as { taskId: string };
    await untilBegun(first.session, "VM.snapshot");
    await first.server.stop("SIGKILL");

    const { session } = await start();
    const task = await taskOf(session, taskId, "?wait=true");
    const snapshots = await session.all({
      type: "VM-snapshot",
      $snapshot_of: vm!.id,
      name_label: "before the upgrade",
    });
    t.match(snapshots, [{ name_description: "with all disks" }]);
    t.match(
      task,
      { status: "success", result: { id: snapshots[0]?.id } },
      JSON.stringify(task.result),
    );
  },
);

t.test(
  "snapshots of a bulk operation that the pool takes meanwhile complete their subtasks with their ids, each taken once",
  LIMIT,
  async (t) => {
    const { start, slow } = await setUp(t);
    const first = await start();
    const vms = await first.session.all({
      type: "VM",
      power_state: "Running",
    });
    const ids = vms.slice(0, 4).map(({ id }) => id);
    await slow("VM.snapshot", 10_000);
    await slow("VM.snapshot", 10_000);
    const { taskId } = (await first.session.request("bulk.run", {
      method: "vm.snapshot",
      params: { name: "before the upgrade", description: "with all disks" },
      ids,
      concurrency: 2,
    })) as { taskId: string };
    await untilBegun(first.session, "VM.snapshot");
    await until(
      first.session,
      taskId,
      (task) => count(task, "succeeded") + count(task, "running") >= 2,
    );
    await first.server.stop("SIGKILL");

    const { session } = await start();
    const task = await taskOf(session, taskId, "?wait=true");
    t.match(task, {
      status: "success",
      result: { succeeded: ids.length, failed: [] },
    });
    const snapshots = await session.all({
      type: "VM-snapshot",
      name_label: "before the upgrade",
      name_description: "with all disks",
    });
    t.same(
      snapshots.map((one) => one["$snapshot_of"]).toSorted(),
      ids.toSorted(),
      "one of each VM",
    );
    t.same(
      task.tasks.map(({ result }) => result?.["id"]).toSorted(),
      snapshots.map(({ id }) => id).toSorted(),
      "the subtasks name them",
    );
  },
);

t.test("a resumed task can be cancelled", LIMIT, async (t) => {
  const { start, slow } = await setUp(t);
  const first = await start();
  const [vm] = await first.session.all({ type: "VM", power_state: "Running" });
  await slow("VM.clean_shutdown", 200_000);
  const answer = await first.session.rest(
    "POST",
    `/vms/${vm!.id}/actions/clean_shutdown`,
  );
  const { taskId } = (await answer.json()) as { taskId: string };
  await until(first.session, taskId, (task) => task.tasks.length === 1);
  await first.server.stop("SIGTERM");

  const { session } = await start();
  const input = await session.rest(
    "POST",
    `/tasks/${taskId}/actions/abort?sync=true`,
  );
  const task = await taskOf(session, taskId, "?wait=true");
  t.equal(input.status, 204);
  t.match(task, { status: "failure", result: { code: "ABORTED" } });
  const after = await session.get(vm!.id);
  t.match(after, { power_state: "Running" }, "the pool has cancelled it");
});
