import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { pick, seededRandom, type Random } from "../faults/seeded-random.js";
import type { Simulated } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { compareRecords, readActionRecords } from "./action-records.js";
import { CutLink } from "./cut-link.js";
import { LeaseObserver } from "./lease-observer.js";
import { until } from "./lease-owners.js";
import { startBalancer } from "./load-balancer.js";
import {
  actionsFor,
  type ListedHost,
  type ListedVm,
  type RequestedAction,
} from "./requested-action.js";
import { FailingServers, FAULTS, type ServerFault } from "./server-faults.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=480000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** `XO_CLUSTER_HISTORIES` histories are tested, from the seed `XO_CLUSTER_SEED` on. */
const FIRST = Number(process.env["XO_CLUSTER_SEED"] ?? 1);
const HISTORIES = Number(process.env["XO_CLUSTER_HISTORIES"] ?? 1);
/** `XO_CLUSTER_KILLS=25`: number of kills in each history, also of servers that start, and no other faults. */
const KILLS = Number(process.env["XO_CLUSTER_KILLS"] ?? 0);
/** `XO_CLUSTER_FAULTS=60`: number of faults of all kinds in each history. */
const FAULTS_IN_HISTORY =
  KILLS || Number(process.env["XO_CLUSTER_FAULTS"] ?? 8);
/** `XO_CLUSTER_POOLS=10`: number of pools; only kills, frozen servers and crashes of PostgreSQL are tested with several. */
const POOLS = Number(process.env["XO_CLUSTER_POOLS"] ?? 1);
/** `XO_CLUSTER_BALANCER=1`: all requests are sent through HAProxy. */
const IS_BALANCED = process.env["XO_CLUSTER_BALANCER"] === "1";
/** `XO_CLUSTER_DATABASE=1` adds crashes of PostgreSQL: a history then takes several minutes. */
const KINDS: readonly ServerFault[] =
  KILLS > 0
    ? ["kill"]
    : FAULTS.filter(
        (fault) =>
          (fault !== "database" ||
            process.env["XO_CLUSTER_DATABASE"] === "1") &&
          (POOLS === 1 || ["kill", "freeze", "database"].includes(fault)),
      );
const CLOCK = join(import.meta.dirname, "../faults/shifted-clock.js");
const POOL = ["--hosts", "6", "--vms", "160", "--churn", "5"];

interface Task {
  readonly status: string;
  readonly result?: {
    readonly message?: string;
    /** Of a bulk operation. */
    readonly failed?: readonly {
      readonly id: string;
      readonly error: { readonly message: string };
    }[];
  };
}

/** State of a request as its client knows it. */
interface Requested extends RequestedAction {
  /** Path of its task, or of its run of a job. Absent: it was refused, or the connection broke before the answer. */
  readonly outcomePath?: string;
  readonly wasRefused: boolean;
}

/** Three servers whose links to the pool count and fail. */
async function setUp(t: Test, random: Random) {
  const links: CutLink[] = [];
  const group = await ServerGroup.open(t, {
    bin: bin!,
    pool: POOL,
    morePools: POOLS - 1,
    keepsPorts: IS_BALANCED,
    nodeArgs: ["--import", CLOCK],
    // Less than tokens and ended tasks are valid or stored.
    env: { XO_TEST_CLOCK_STEP_MS: "3600000" },
    settings: "server: { name: NAME, leaseMs: 2000 }",
    linkTo: async ({ url }) => {
      const link = await CutLink.open(url);
      t.teardown(() => link.stop());
      links.push(link);
      return link.url;
    },
  });
  const members = [];
  for (let i = 0; i < 3; i++) members.push(await group.start(i));
  for (const { url } of members) {
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => {
      const states = Object.values(pools).map((pool) => pool?.state);
      const isLoaded = states.every((state) => state === "watching");
      return states.length === POOLS && isLoaded;
    });
  }
  const servers = new FailingServers(group, members, links, random);
  if (IS_BALANCED) {
    const ports = members.map(({ url }) => Number(new URL(url).port));
    const url = await startBalancer(t, ports);
    const isReady = async () => (await fetch(`${url}/health`)).ok;
    await until(() => isReady().catch(() => false));
    servers.balancer = url;
  }
  return { group, servers };
}

/** Retried until a server accepts it: on a busy machine PostgreSQL may not answer in time. */
async function signIn(servers: FailingServers): Promise<string> {
  for (;;) {
    const login = await fetch(`${servers.anyUrl}/rest/v0/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "admin", password: PASSWORD }),
    });
    const token = login.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith("authenticationToken="));
    if (token !== undefined) return token.split(";")[0]!;
    await pause(1_000);
  }
}

type Ask = (url: string, path: string, body?: object) => Promise<Response>;

/** @returns sends requests with a token */
function asker(cookie: string): Ask {
  return (url, path, body) =>
    fetch(`${url}/rest/v0${path}`, {
      headers: { cookie, "content-type": "application/json" },
      signal: AbortSignal.timeout(30_000),
      ...(body === undefined
        ? {}
        : { method: "POST", body: JSON.stringify(body) }),
    });
}

/** Number of times that the pools have received each call, according to their own logs. */
async function readCalls(pools: readonly Simulated[]) {
  const counts = new Map<string, number>();
  for (const { url } of pools) {
    const calls = (await (await fetch(`${url}/sim/calls`)).json()) as {
      readonly method: string;
      readonly object: string;
    }[];
    for (const { method, object } of calls) {
      const call = `${method} ${object}`;
      counts.set(call, (counts.get(call) ?? 0) + 1);
    }
  }
  return counts;
}

/** Violations that the audit log and the tasks of the database show. */
async function readProblems(
  group: ServerGroup,
  requested: readonly Requested[],
  issued: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  const accepted = requested.flatMap(({ path, outcomePath }) => {
    if (outcomePath === undefined) return [];
    const [, kind, id] = outcomePath.split("/");
    return kind === "tasks" ? { path, taskId: id! } : { path };
  });
  const actions = requested.flatMap(({ calls, ids }) =>
    calls.map((call, i) => ({ id: ids[i]!, issued: issued.get(call) ?? 0 })),
  );
  const compare = async () =>
    compareRecords(await readActionRecords(group.postgres), accepted, actions);
  // The last entries are written after the last responses.
  for (let i = 0; i < 20; i++) {
    const problems = await compare();
    if (problems.length === 0) return [];
    await pause(500);
  }
  return compare();
}

async function send(
  request: Ask,
  url: string,
  action: RequestedAction,
): Promise<Requested> {
  const answer = await request(url, action.path, action.body).catch(
    () => undefined,
  );
  if (answer === undefined) return { ...action, wasRefused: false };
  if (answer.status !== 202 && answer.status !== 200)
    return { ...action, wasRefused: true };
  const { taskId, runId } = (await answer.json()) as Record<string, string>;
  const outcomePath =
    runId === undefined ? `/tasks/${taskId}` : `/job-runs/${runId}`;
  return { ...action, outcomePath, wasRefused: false };
}

/** Answers without the task, one after the other, after which it counts as lost. */
const UNKNOWN = 50;

/** Waits until a task, or a run of a job, has ended. */
async function endOf(
  request: Ask,
  servers: FailingServers,
  path: string,
): Promise<Task> {
  for (let unknown = 0; unknown < UNKNOWN;) {
    const answer = await request(servers.anyUrl, path).catch(() => undefined);
    if (answer?.status === 200) {
      unknown = 0;
      const task = (await answer.json()) as Task;
      if (!["pending", "queued"].includes(task.status)) return task;
    } else if (answer !== undefined) unknown++;
    await pause(200);
  }
  return { status: "lost" };
}

/**
 * Violations of the guarantees for one request.
 * @param issued number of times that the pool has received each of its calls
 */
function problemOf(
  { calls, ids, path, outcomePath, wasRefused }: Requested,
  issued: readonly number[],
  task: Task | undefined,
): string | undefined {
  const unaccepted = wasRefused ? "refused" : "no answer";
  const known = outcomePath === undefined ? unaccepted : JSON.stringify(task);
  const about = `${path} ${calls.join()}: ${issued.join()} times, ${known}`;
  if (issued.some((times) => times > 1)) return about;
  if (task?.status === "lost") return about;
  if (task?.status === "success" && issued.some((times) => times !== 1))
    return about;
  const { failed, message = "" } = task?.result ?? {};
  const isWrong = issued.some((times, i) => {
    if (failed === undefined) return isDenied(message) && times > 0;
    const failure = failed.find((one) => one.id === ids[i]);
    if (failure === undefined) return times !== 1;
    return isDenied(failure.error.message) && times > 0;
  });
  return isWrong ? about : undefined;
}

/** The message claims that nothing was sent. */
function isDenied(message: string): boolean {
  return /no XAPI task was started|^not started:/.test(message);
}

/** Requests actions of random servers while they fail. */
async function actUnderFaults(
  random: Random,
  servers: FailingServers,
  {
    request,
    actions,
  }: { readonly request: Ask; readonly actions: readonly RequestedAction[] },
) {
  const requests: Promise<Requested>[] = [];
  const faults: string[] = [];
  const next = new EventEmitter();
  const clients = (async () => {
    for (const [i, action] of actions.entries()) {
      // On a busy machine all requests would have been sent before most of the faults.
      while (
        faults.length < Math.floor((i * FAULTS_IN_HISTORY) / actions.length)
      )
        await once(next, "fault");
      if (faults.length >= FAULTS_IN_HISTORY) break;
      requests.push(send(request, servers.anyUrl, action));
      await pause(random(1_200));
    }
  })();
  while (faults.length < FAULTS_IN_HISTORY) {
    await pause(random(1_000));
    const fault = pick(random, KINDS);
    if (KILLS > 0) await servers.killNext();
    else await servers.fail(fault);
    faults.push(fault);
    next.emit("fault");
  }
  await clients;
  await servers.untilStarted();
  return { requested: await Promise.all(requests), faults };
}

for (let seed = FIRST; seed < FIRST + HISTORIES; seed++)
  t.test(
    `no action is carried out twice or lost, whatever fails: XO_CLUSTER_SEED=${seed}`,
    { skip },
    async (t) => {
      const random = seededRandom(seed);
      const { group, servers } = await setUp(t, random);
      const leases = new LeaseObserver(group.postgres);
      const observed = leases.run();
      // Otherwise it would keep the process of a failed test alive.
      t.teardown(() => {
        leases.stop();
      });
      const request = asker(await signIn(servers));
      const list = async (path: string) =>
        (await (await request(servers.anyUrl, path)).json()) as never[];
      const vms = (await list("/vms?fields=*")) as readonly ListedVm[];
      const hosts = (await list(
        "/hosts?fields=id,$pool",
      )) as readonly ListedHost[];
      const createJob = async (job: object) => {
        const answer = await request(servers.anyUrl, "/jobs", { job });
        return ((await answer.json()) as { id: string }).id;
      };
      const actions = await actionsFor(vms, hosts, random, createJob);

      const { requested, faults } = await actUnderFaults(random, servers, {
        request,
        actions,
      });
      t.comment(
        `seed ${seed}: ${faults.join(", ")}; ${servers.killedStarts} while starting`,
      );
      const tasks = await Promise.all(
        requested.map(async ({ outcomePath }) =>
          outcomePath === undefined
            ? undefined
            : endOf(request, servers, outcomePath),
        ),
      );
      const issued = await readCalls(group.pools);
      const problems = requested.flatMap((one, i) => {
        const times = one.calls.map((call) => issued.get(call) ?? 0);
        return problemOf(one, times, tasks[i]) ?? [];
      });
      t.same(problems, []);
      t.same(
        await readProblems(group, requested, issued),
        [],
        "the audit log and the tasks agree",
      );
      t.ok(
        tasks.some((task) => task?.status === "success"),
        "some succeeded",
      );
      const counts = new Map<string, number>();
      for (const task of tasks) {
        const status = task?.status ?? "not accepted";
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
      t.comment(
        `${requested.length} requests, ${issued.size} actions, ${leases.moves} moves of leases`,
        Object.fromEntries(counts),
      );
      leases.stop();
      await observed;
      t.same(leases.problems, [], "one owner at a time");
      const audit = group.run(0, "audit", "verify");
      t.equal(await audit.ended, 0, audit.output);
    },
  );
