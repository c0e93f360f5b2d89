import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { StatusPage } from "../status-page.js";
import { BalancedClient } from "./balanced-client.js";
import { LateLink } from "./late-link.js";
import { until } from "./lease-owners.js";
import type { ListedVm } from "./requested-action.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";
const POOL = ["--hosts", "3", "--vms", "30", "--churn", "0"];

/** More than a lease, after which the tasks of a killed server are adopted. */
const LONG_MS = 8_000;

/** An operation that the pool received; `at` by its clock. */
interface Call {
  readonly at: number;
  readonly method: string;
  readonly object: string;
}

interface Outcome {
  readonly status: string;
  readonly result?: { readonly message?: string; readonly failed?: object[] };
}

/** Two servers; requests of the first one to the pool can be delivered late. */
async function setUp(t: Test) {
  const links: LateLink[] = [];
  const group = await ServerGroup.open(t, {
    bin: bin!,
    pool: POOL,
    settings: "server: { name: NAME, leaseMs: 2000 }",
    linkTo: async ({ url }) => {
      const link = await LateLink.open(url);
      t.teardown(() => link.stop());
      links.push(link);
      return link.url;
    },
  });
  const members = [await group.start(0), await group.start(1)];
  for (const { url } of members) {
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
  }
  const client = await BalancedClient.signIn(members[0]!.url);
  const list = await client.fetch(
    "/rest/v0/vms?fields=id,power_state,_xapiRef,$container&filter=power_state:Running",
  );
  const vms = (await list.json()) as readonly ListedVm[];
  const post = async (path: string, body: object) => {
    const answer = await client.fetch(`/rest/v0${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.status !== 202) throw new Error(await answer.text());
    return ((await answer.json()) as { taskId: string }).taskId;
  };
  /** Waits for a task at the second server. */
  const endOf = async (taskId: string): Promise<Outcome> => {
    const second = client.at(members[1]!.url);
    let task: Outcome = { status: "pending" };
    await until(async () => {
      const answer = await second.fetch(`/rest/v0/tasks/${taskId}`);
      if (answer.status === 200) task = (await answer.json()) as Outcome;
      return task.status !== "pending";
    });
    return task;
  };
  const callsOf = async (method: string) => {
    const calls = await fetch(`${group.pool.url}/sim/calls`);
    return ((await calls.json()) as Call[]).filter(
      (call) => call.method === method,
    );
  };
  /** The next call takes longer. */
  const delay = (method: string, delayMs: number) =>
    fetch(`${group.pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ method, delayMs }),
    });
  const kill = () => members[0]!.program.stop("SIGKILL");
  return { link: links[0]!, vms, post, endOf, callsOf, kill, delay };
}

t.test(
  "a request that a killed server has sent and that arrives after its successor has repeated it is refused",
  { skip },
  async (t) => {
    const { link, vms, post, endOf, callsOf, kill } = await setUp(t);
    const three = vms.slice(0, 3);
    link.hold((body) => body.includes("Async.VM.hard_reboot"));
    const taskId = await post("/bulk", {
      method: "vm.restart",
      ids: three.map(({ id }) => id),
      params: { force: true },
      concurrency: 2,
    });
    await until(async () => link.held === 2);
    await kill();
    const task = await endOf(taskId);
    t.match(task, { status: "success" });
    const answers = await link.deliver();
    t.equal(answers.length, 2);
    for (const answer of answers) t.match(answer, /SESSION_INVALID/);
    t.same(
      (await callsOf("VM.hard_reboot")).map(({ object }) => object).toSorted(),
      three.map(({ _xapiRef: ref }) => ref).toSorted(),
      "each VM was rebooted once",
    );
  },
);

t.test(
  "an action of which nothing was started is not started by its request that arrives late",
  { skip },
  async (t) => {
    const { link, vms, post, endOf, callsOf, kill } = await setUp(t);
    link.hold((body) => body.includes("Async.VM.hard_reboot"));
    const taskId = await post(`/vms/${vms[0]!.id}/actions/hard_reboot`, {});
    await until(async () => link.held === 1);
    await kill();
    const task = await endOf(taskId);
    t.match(task, { status: "interrupted" });
    t.match(task.result?.message, /not started: VM.hard_reboot/);
    const [answer] = await link.deliver();
    t.match(answer, /SESSION_INVALID/);
    t.same(await callsOf("VM.hard_reboot"), []);
  },
);

t.test(
  "what the pool carries out for a killed server ends before its session",
  { skip },
  async (t) => {
    const { link, vms, post, endOf, callsOf, kill, delay } = await setUp(t);
    const two = vms.slice(0, 2);
    let passed = 0;
    link.hold((body) => body.includes("Async.VM.hard_reboot") && ++passed > 1);
    await delay("VM.hard_reboot", LONG_MS);
    const taskId = await post("/bulk", {
      method: "vm.restart",
      ids: two.map(({ id }) => id),
      params: { force: true },
      concurrency: 2,
    });
    await until(async () => link.held === 1);
    await kill();
    const task = await endOf(taskId);
    t.match(task, { status: "success" }, JSON.stringify(task));
    const [answer] = await link.deliver();
    t.match(answer, /SESSION_INVALID/);
    const [first, second, ...more] = await callsOf("VM.hard_reboot");
    t.same(more, []);
    t.same(
      [first!.object, second!.object].toSorted(),
      two.map(({ _xapiRef: ref }) => ref).toSorted(),
    );
    t.ok(
      second!.at >= first!.at + LONG_MS,
      "the second was repeated after the end of the first",
    );
  },
);
