import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD, type Thing } from "./api-session.js";
import { RunningProgram } from "./running-program.js";
import { simulate, type Simulated } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

/** Pools of which all VMs can be migrated. */
const SIZES = [
  ["--hosts", "3", "--vms", "4", "--seed", "3", "--pace", "0.1"],
  ["--hosts", "3", "--vms", "4", "--seed", "14", "--pace", "0.1"],
  ["--hosts", "4", "--vms", "8", "--seed", "1", "--pace", "0.1"],
];

interface Run {
  readonly id: string;
  readonly status: string;
  readonly pools?: readonly {
    readonly pool: string;
    readonly status: string;
    readonly error?: object;
  }[];
  readonly notBegun?: number;
}

interface Pool {
  readonly id: string;
  readonly simulated: Simulated;
}

interface Bench {
  readonly pools: readonly [Pool, Pool, Pool];
  readonly session: ApiSession;
  /** Kills the server and starts it again. */
  readonly restart: () => Promise<ApiSession>;
}

/** Three pools, and a server that follows them. */
async function startBench(t: Test): Promise<Bench> {
  const simulated: Simulated[] = [];
  for (const size of SIZES) simulated.push((await simulate(t, ...size))[0]!);
  const entries = simulated.map(
    ({ url, password }, index) =>
      `{ label: P${index}, hosts: ["${url}"], password: ${password} }`,
  );
  const cwd = t.testdir({ "config.yaml": `pools: [${entries.join(", ")}]` });
  const start = async () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) =>
      simulated.every((_, index) => pools[`p${index}`]?.state === "watching"),
    );
    return { server, session: await ApiSession.open(t, url) };
  };
  const { server, session } = await start();
  const servers = (await session.request("server.getAll")) as readonly {
    readonly label: string;
    readonly poolId: string;
  }[];
  const pools = simulated.map((one, index) => ({
    id: servers.find(({ label }) => label === `P${index}`)!.poolId,
    simulated: one,
  }));
  return {
    pools: pools as unknown as [Pool, Pool, Pool],
    session,
    async restart() {
      await server.stop("SIGKILL");
      return (await start()).session;
    },
  };
}

async function createJob(
  session: ApiSession,
  groups: readonly (readonly Pool[])[],
): Promise<string> {
  const ids = groups.map((group) => group.map(({ id }) => id));
  const job = { type: "rollingUpdate", name: "night", groups: ids };
  return (await session.request("job.create", { job })) as string;
}

async function runNow(session: ApiSession, job: string): Promise<Run> {
  await session.call("job.runNow", { id: job });
  return ended(session, job);
}

/** The last run of a job, when it has ended. */
async function ended(session: ApiSession, jobId: string): Promise<Run> {
  for (;;) {
    const answer = await session.request("jobRun.list", { jobId });
    const [run] = (answer as { runs: Run[] }).runs;
    if (run !== undefined && run.status !== "pending") return run;
    await pause(50);
  }
}

const hostsOf = (session: ApiSession, { id }: Pool): Promise<Thing[]> =>
  session.all({ type: "host", $pool: id });

async function startsOf(session: ApiSession, pool: Pool): Promise<unknown[]> {
  const hosts = await hostsOf(session, pool);
  return hosts.map(({ id, startTime }) => [id, startTime]).sort();
}

async function failUpdater(session: ApiSession, pool: Pool): Promise<void> {
  const [host] = await hostsOf(session, pool);
  const failure = {
    method: "host.call_plugin/updater.py/update",
    error: "-1",
    params: ["No space left on device", "", ""],
    object: host!["_xapiRef"],
  };
  const answer = await fetch(`${pool.simulated.url}/sim/fail`, {
    method: "POST",
    body: JSON.stringify(failure),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

t.test(
  "a group of pools begins only when the former one was updated",
  LIMIT,
  async (t) => {
    const { pools, session } = await startBench(t);
    const [a, b, c] = pools;
    await failUpdater(session, a);
    const before = [await startsOf(session, b), await startsOf(session, c)];
    const job = await createJob(session, [[a], [b, c]]);
    const failed = await runNow(session, job);
    t.match(failed, {
      status: "failure",
      notBegun: 2,
      pools: [
        {
          pool: a.id,
          status: "failure",
          error: { message: /No space left on device/ },
        },
      ],
    });
    t.same([await startsOf(session, b), await startsOf(session, c)], before);

    const run = await runNow(session, job);
    t.match(
      run,
      { status: "success", pools: { length: 3 } },
      JSON.stringify(run),
    );
    t.equal(run.pools![0]!.pool, a.id, "the first group first");
    for (const { id } of await session.all({ type: "host" }))
      t.same(
        await session.request("pool.listMissingPatches", { host: id }),
        [],
      );
  },
);

t.test(
  "a run continues after the server was killed, with the pools that are left",
  LIMIT,
  async (t) => {
    const { pools, session, restart } = await startBench(t);
    const [a, b, c] = pools;
    const job = await createJob(session, [[a], [b], [c]]);
    void session.call("job.runNow", { id: job });
    const isThere = async () =>
      (
        (await session.request("pool.getRollingState", { pool: b.id })) as {
          current: object | null;
        }
      ).current !== null;
    while (!(await isThere())) await pause(20);
    const done = await startsOf(session, a);
    const again = await restart();
    t.match(await ended(again, job), {
      status: "success",
      pools: [{ pool: a.id }, { pool: b.id }, { pool: c.id }],
    });
    t.same(await startsOf(again, a), done, "a pool that is done is left alone");
  },
);

t.test(
  "an invalid job is refused with the name of what is wrong",
  LIMIT,
  async (t) => {
    const { pools, session } = await startBench(t);
    const [a] = pools;
    const refused = async (job: object) =>
      (await session.call("job.create", { job: { name: "x", ...job } })).error;
    t.match(
      await refused({ type: "rollingUpdate", groups: [[a.id], [a.id]] }),
      {
        data: { reason: `groups: pool ${a.id} is in two of them` },
      },
    );
    t.match(
      await refused({
        type: "rollingUpdate",
        groups: [[a.id]],
        windows: { timezone: "Mars/Base", ranges: [{ from: "1:00", to: "2" }] },
      }),
      { data: { reason: /windows/ } },
    );
    t.match(await refused({ type: "rollingReboot", groups: [[a.id]] }), {
      data: { reason: /type/ },
    });
  },
);
