import t from "tap";
import { startStorageBench, type StorageBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

const SIZE = ["--hosts", "3", "--vms", "4", "--seed", "14", "--pace", "0.1"];
const HOUR = 3_600_000;

interface State {
  readonly current: {
    readonly suspension?: { readonly since: number; readonly until?: number };
    readonly completed: readonly string[];
    readonly task: string;
  } | null;
}

/** A time of the day in UTC, `hours` from now. */
function timeIn(hours: number): string {
  return new Date(Date.now() + hours * HOUR).toISOString().slice(11, 16);
}

const windowOf = (from: number, to: number) => ({
  timezone: "UTC",
  ranges: [{ from: timeIn(from), to: timeIn(to) }],
});

async function begin(
  { admin }: StorageBench,
  pool: string,
  body: object = {},
): Promise<string> {
  const path = `/pools/${pool}/actions/rolling_update`;
  const begun = await admin.rest("POST", path, body);
  const { taskId } = begun.body as { taskId?: string };
  if (taskId === undefined) throw new Error(JSON.stringify(begun.body));
  return taskId;
}

async function ended({ admin }: StorageBench, task: string) {
  return (await admin.rest("GET", `/tasks/${task}?wait=true`)).body as {
    readonly status: string;
    readonly result?: object;
  };
}

/** Repeats until the state is as expected; the time limit of the test ends it. */
async function until(
  { admin }: StorageBench,
  pool: string,
  isMet: (state: State) => boolean,
): Promise<State> {
  for (;;) {
    const state = await admin.request<State>("pool.getRollingState", { pool });
    if (isMet(state)) return state;
  }
}

async function withHa(t: Test) {
  const bench = await startStorageBench(t, ...SIZE);
  const { admin, list } = bench;
  const [{ id: pool }] = (await list("pools")) as [{ id: string }];
  const [sr] = await list("srs", "shared? content_type:user");
  await admin.request("pool.enableHa", { pool, heartbeatSrs: [sr!.id] });
  const running = async () =>
    (await list("vms", "power_state:Running")).map(({ id }) => id).sort();
  const starts = async () =>
    (await list("hosts")).map(({ id, startTime }) => [id, startTime]);
  return { ...bench, poolId: pool, running, starts };
}
type Test = Parameters<typeof startStorageBench>[0];

t.test(
  "outside of its window nothing is begun, and HA stays enabled",
  LIMIT,
  async (t) => {
    const bench = await withHa(t);
    const { admin, poolId: pool, list } = bench;
    const before = { running: await bench.running(), at: await bench.starts() };
    const task = await begin(bench, pool, { windows: windowOf(3, 6) });
    const { current } = await until(
      bench,
      pool,
      (state) => state.current?.suspension !== undefined,
    );
    const { until: at = 0 } = current!.suspension!;
    t.ok(at > Date.now() + 2 * HOUR && at < Date.now() + 3.1 * HOUR);
    t.equal(current!.task, task, "clients know which task to cancel");
    t.match(await list("pools"), [{ HA_enabled: true }]);
    t.same(await bench.starts(), before.at, "no host was rebooted");
    t.match(await admin.call("pool.rollingUpdate", { pool }), {
      error: { data: { property: "rolling update" } },
    });

    await admin.rest("POST", `/tasks/${task}/actions/abort`, {});
    t.match(await ended(bench, task), { status: "failure" });
    const other = await begin(bench, pool, { windows: windowOf(-1, 3) });
    t.match(await ended(bench, other), { status: "success" });
    t.same(await bench.running(), before.running, "all VMs run");
    t.match(await list("pools"), [{ HA_enabled: true }]);
  },
);

t.test("a step that no window has time for is refused", LIMIT, async (t) => {
  const bench = await withHa(t);
  const { poolId: pool, admin } = bench;
  const windows = {
    timezone: "UTC",
    ranges: [{ from: "01:00", to: "01:05" }],
  };
  const plan = await admin.request("pool.planRollingUpdate", { pool, windows });
  t.match(plan, {
    canStart: false,
    problems: [{ code: "WINDOW_TOO_SHORT", isFatal: true }],
  });
  t.match(await ended(bench, await begin(bench, pool, { windows })), {
    status: "failure",
    result: { code: "INVALID_PARAMETERS", message: /longest has 5 minutes/ },
  });
  t.match(await admin.request("pool.getRollingState", { pool }), {
    current: null,
  });
  t.match(
    await admin.call("pool.rollingUpdate", {
      pool,
      windows: { timezone: "Mars/Base", ranges: [] },
    }),
    { error: { data: { reason: "unknown time zone: Mars/Base" } } },
  );
  const late = await admin.request<{ waves: { beginsAt: number }[] }>(
    "pool.planRollingUpdate",
    { pool, windows: windowOf(2, 2.5) },
  );
  const begins = late.waves.map(({ beginsAt }) => beginsAt);
  t.ok(begins[0]! > Date.now() + HOUR, "the plan shows when steps begin");
  t.ok(begins.at(-1)! > begins[0]! + 20 * HOUR, "and continues the next day");
});

t.test("a user suspends a run, and continues it", LIMIT, async (t) => {
  const bench = await withHa(t);
  const { admin, poolId: pool, list } = bench;
  const before = await bench.running();
  t.match(await admin.call("pool.suspendRolling", { pool }), {
    error: { data: { actual: "not in progress" } },
  });
  const task = await begin(bench, pool);
  await until(bench, pool, ({ current }) => current !== null);
  await admin.request("pool.suspendRolling", { pool });
  const { current } = await until(
    bench,
    pool,
    (state) => state.current?.suspension !== undefined,
  );
  t.equal(current!.suspension!.until, undefined);
  t.match(await list("pools"), [{ HA_enabled: true }]);
  t.same(await bench.running(), before);
  await bench.untilGone("hosts", "!enabled?");

  await admin.request("pool.continueRolling", { pool });
  t.match(await ended(bench, task), { status: "success" });
  t.match(await list("pools"), [{ HA_enabled: true }]);
  t.same(await bench.running(), before, "all VMs run");
  t.match(await admin.request("pool.getRollingState", { pool }), {
    current: null,
  });
  const eve = await bench.addUser("eve", { [pool]: "operator" });
  t.match(await eve.call("pool.suspendRolling", { pool }), {
    error: { code: 2 },
  });
});

t.test("a cancelled run leaves the pool as before", LIMIT, async (t) => {
  const bench = await withHa(t);
  const { admin, poolId: pool, list } = bench;
  const before = await bench.running();
  const task = await begin(bench, pool);
  await until(bench, pool, ({ current }) => current?.completed.length === 1);
  await admin.rest("POST", `/tasks/${task}/actions/abort`, {});
  t.match(await ended(bench, task), { status: "failure" });
  t.match(await list("pools"), [{ HA_enabled: true }]);
  await bench.untilGone("hosts", "!enabled?");
  t.same(await bench.running(), before, "all VMs run");
  t.match(await ended(bench, await begin(bench, pool)), { status: "success" });
});
