import t from "tap";
import { startControlled } from "./controlled-pools.js";
import type { Simulated } from "./simulated.js";
import { startStorageBench, type StorageBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

const SIZE = ["--hosts", "4", "--vms", "8", "--seed", "1", "--pace", "0.05"];

interface Task {
  readonly status: string;
  readonly result?: {
    readonly code?: string;
    readonly message?: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
  readonly properties: { readonly name: string };
  readonly tasks?: readonly Task[];
  readonly warnings?: readonly { readonly message: string }[];
}

interface Plan {
  readonly canStart: boolean;
  readonly problems: readonly Readonly<Record<string, unknown>>[];
  readonly hosts: readonly { readonly id: string }[];
  readonly waves: readonly {
    readonly hosts: readonly string[];
    readonly moves: readonly { vm: string; from: string; to: string }[];
    readonly endsAt: number;
  }[];
  readonly moves: number;
  readonly seconds: number;
  readonly riskiest: { readonly reason: string };
}

async function control(
  { url }: Simulated,
  path: string,
  body: object,
): Promise<void> {
  const answer = await fetch(`${url}/sim/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function update(
  { admin, list }: StorageBench,
  body: object = {},
): Promise<Task> {
  const [pool] = await list("pools");
  const path = `/pools/${pool!.id}/actions/rolling_update`;
  const begun = await admin.rest("POST", path, body);
  const { taskId } = begun.body as { taskId?: string };
  if (taskId === undefined) throw new Error(JSON.stringify(begun.body));
  return (await admin.rest("GET", `/tasks/${taskId}?wait=true`)).body;
}

async function lookAt({ list }: StorageBench) {
  const [pool] = await list("pools");
  const hosts = await list("hosts");
  const running = await list("vms", "power_state:Running");
  return { pool: pool!, hosts, running: running.map(({ id }) => id).sort() };
}

/** A user who may read pools, and nothing else. */
async function addPoolReader({ admin, addUser }: StorageBench) {
  const reader = await addUser("reader", {});
  const roleId = await admin.request<string>("role.create", { name: "pools" });
  await admin.request("privilege.create", {
    roleId,
    effect: "allow",
    resource: "pool",
    action: "read",
  });
  const users =
    await admin.request<readonly { id: string; email: string }[]>(
      "user.getAll",
    );
  const { id: userId } = users.find(({ email }) => email === "reader")!;
  await admin.request("role.addToUser", { id: roleId, userId });
  return reader;
}

for (const system of ["xcp-ng", "xenserver-8"])
  t.test(`a pool of ${system} is updated`, LIMIT, async (t) => {
    const bench = await startStorageBench(t, ...SIZE, "--system", system);
    const { admin } = bench;
    const before = await lookAt(bench);
    const pool = before.pool.id;
    const plan = await admin.request<Plan>("pool.planRollingUpdate", { pool });
    t.match(plan, { canStart: true, problems: [], moves: Number });
    t.equal(plan.hosts[0]!.id, before.pool["master"], "the coordinator first");
    t.same(
      plan.waves.flatMap(({ hosts }) => hosts).sort(),
      before.hosts.map(({ id }) => id).sort(),
    );
    t.equal(plan.waves.at(-1)!.endsAt, plan.seconds);
    const first = plan.waves[0]!.hosts[0]!;
    t.ok(
      plan.waves
        .slice(1)
        .flatMap(({ moves }) => moves)
        .every(({ from }) => from !== first),
      "VMs do not leave a host that is updated",
    );

    const task = await update(bench);
    t.equal(task.status, "success", JSON.stringify(task));
    const after = await lookAt(bench);
    t.same(after.running, before.running, "all VMs run");
    for (const { id } of after.hosts)
      t.same(await admin.request("pool.listMissingPatches", { host: id }), []);
    t.ok(after.hosts.every(({ enabled }) => enabled === true));
    t.match(await admin.request("pool.getRollingState", { pool }), {
      current: null,
      last: { kind: "update", hosts: 4, completed: 4, waves: Array },
    });
    const { waves } = await admin.request<Plan>("pool.planRollingUpdate", {
      pool,
    });
    t.same(waves, [], "nothing is left to do");
  });

const stops: readonly {
  readonly what: string;
  readonly path: string;
  readonly body: (host: string) => object;
  readonly where: RegExp;
  readonly reason: RegExp;
}[] = [
  {
    what: "the updater fails",
    path: "fail",
    body: (object) => ({
      method: "host.call_plugin/updater.py/update",
      error: "-1",
      params: ["No space left on device", "", ""],
      object,
    }),
    where: /: install updates$/,
    reason: /No space left/,
  },
  {
    what: "a VM cannot be migrated",
    path: "fail",
    body: () => ({
      method: "VM.pool_migrate",
      error: "INTERNAL_ERROR",
      params: ["xenopsd"],
      when: "work",
    }),
    where: /: evacuate$/,
    reason: /xenopsd/,
  },
  {
    what: "the host returns with the software of before",
    path: "boot",
    body: (host) => ({ host, fault: "old-version" }),
    where: /: verify the host$/,
    reason: /xapi 25\.6\.0/,
  },
];

for (const { what, path, body, where, reason } of stops)
  t.test(`it stops, and reports the reason: ${what}`, LIMIT, async (t) => {
    const bench = await startStorageBench(t, ...SIZE);
    const before = await lookAt(bench);
    const second = before.hosts.find(({ id }) => id !== before.pool["master"])!;
    await control(bench.pool, path, body(String(second["_xapiRef"])));
    const task = await update(bench);
    t.match(task, {
      status: "failure",
      result: { code: "STOPPED_MIDWAY", data: { where, reason } },
    });
    await bench.untilGone("hosts", "!enabled?");
    t.same((await lookAt(bench)).running, before.running, "all VMs run");
    const [pool] = await bench.list("pools");
    t.match(
      await bench.admin.request("pool.getRollingState", { pool: pool!.id }),
      {
        current: { kind: "update", stopped: reason },
      },
    );
    const reader = await addPoolReader(bench);
    t.match(
      await reader.request("pool.getRollingState", { pool: pool!.id }),
      { current: { kind: "update", stopped: "hidden" } },
      "the reason may name objects that the reader may not read",
    );
    const viewer = await bench.addUser("viewer", { [pool!.id]: "viewer" });
    t.match(
      await viewer.request("pool.getRollingState", { pool: pool!.id }),
      { current: { stopped: reason } },
      "a right on the pool includes what belongs to it",
    );
    const again = await update(bench);
    if (what.includes("software")) {
      t.match(again, { status: "failure", result: { data: { where } } });
      return;
    }
    t.equal(again.status, "success", JSON.stringify(again));
    t.same((await lookAt(bench)).running, before.running, "all VMs run");
  });

t.test("storage that is not connected is connected", LIMIT, async (t) => {
  const bench = await startStorageBench(t, ...SIZE);
  const before = await lookAt(bench);
  const host = before.hosts[0]!["_xapiRef"];
  await control(bench.pool, "boot", { host, fault: "unplugged" });
  const task = await update(bench);
  t.equal(task.status, "success", JSON.stringify(task));
  await bench.untilGone("pbds", "!attached?");
});

t.test(
  "an updater plug-in that fails after the reboot is called again",
  LIMIT,
  async (t) => {
    const bench = await startStorageBench(t, ...SIZE);
    const { hosts } = await lookAt(bench);
    const check = {
      method: "host.call_plugin/updater.py/check_update",
      object: hosts[0]!["_xapiRef"],
    };
    // That of the plan.
    await control(bench.pool, "fail", { ...check, delayMs: 0 });
    await control(bench.pool, "fail", {
      ...check,
      error: "-1",
      params: ["Cannot find a valid baseurl for repo: xcp-ng-base", "", ""],
    });
    const task = await update(bench);
    t.equal(task.status, "success", JSON.stringify(task));
  },
);

t.test("what prevents it is reported before the start", LIMIT, async (t) => {
  const bench = await startStorageBench(t, ...SIZE);
  const { admin } = bench;
  const { pool, running, hosts } = await lookAt(bench);
  await admin.request("vm.set", {
    id: running[0],
    blockedOperations: { pool_migrate: "it holds a dongle" },
  });
  await admin.request("host.disable", { id: hosts[1]!.id });
  const plan = await admin.request<Plan>("pool.planRollingUpdate", {
    pool: pool.id,
  });
  t.equal(plan.canStart, false);
  t.equal(plan.problems.length, 2);
  t.match(
    plan.problems.find((one) => (one as { type: string }).type === "VM"),
    { id: running[0], code: "OPERATION_BLOCKED", isFatal: true },
  );
  t.match(
    plan.problems.find((one) => (one as { type: string }).type === "host"),
    { id: hosts[1]!.id, code: "HOST_DISABLED", isFatal: true },
  );
  await t.test("without what the reader has no right to read", async (t) => {
    const reader = await addPoolReader(bench);
    const asked = { pool: pool.id };
    const shown = await reader.request<Plan>("pool.planRollingUpdate", asked);
    t.equal(shown.problems.length, 2);
    t.equal(shown.moves, plan.moves);
    t.same(
      shown.problems.map(({ id, name, reason }) => ({ id, name, reason })),
      Array(2).fill({ id: "hidden", name: "hidden", reason: "hidden" }),
    );
    const text = JSON.stringify(shown);
    for (const { id, name_label } of [...hosts, ...(await bench.list("vms"))]) {
      t.notMatch(text, id);
      t.notMatch(text, `"${String(name_label)}"`);
    }
  });
  const refused = await update(bench);
  t.match(refused, { status: "failure", result: { code: "INCORRECT_STATE" } });
});

t.test("a pool that refuses updates is not begun", LIMIT, async (t) => {
  const server = await startControlled(t, {
    hosts: 3,
    vms: 4,
    system: "xenserver-8",
  });
  const [pool] = server.pools;
  const { id } = (await server.api.all({ type: "pool" }))[0]!;
  pool!.refuseUpdates([["LICENCE_RESTRICTION", "updates"]]);
  t.match(await server.api.request("pool.planRollingUpdate", { pool: id }), {
    canStart: false,
    problems: [
      {
        code: "LICENCE_RESTRICTION",
        reason: "the pool refuses updates: LICENCE_RESTRICTION updates",
      },
    ],
  });
  t.match(await server.api.call("pool.rollingUpdate", { pool: id }), {
    error: { message: /LICENCE_RESTRICTION updates/ },
  });
  t.notOk(
    pool!.calls().some(({ method }) => /evacuate|disable|apply/.test(method)),
    "nothing is begun",
  );
  pool!.refuseUpdates([]);
  const plan = await server.api.request("pool.planRollingUpdate", { pool: id });
  t.notMatch(plan, { problems: [{ code: "LICENCE_RESTRICTION" }] });
});
