import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { RunningProgram } from "./running-program.js";
import type { Simulated } from "./simulated.js";
import { startStorageBench, type StorageBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const PACE = ["--pace", "0.1"];
const SIZE = [
  "--hosts",
  "3",
  "--vms",
  "4",
  "--members",
  "2",
  "--seed",
  "3",
  ...PACE,
];

/** Repeats the request until there are as many. */
async function until(
  { list }: StorageBench,
  folder: string,
  filter: string,
  count: number,
) {
  for (;;) {
    const found = await list(folder, filter);
    if (found.length === count) return found;
    await pause(100);
  }
}

t.test("hosts join, become coordinator and leave", LIMIT, async (t) => {
  // First: a program that starts empties the folder in which the test's others run.
  const program = new RunningProgram(t, "xapi-sim", [
    "--pool",
    "host",
    "--json",
    "--prepare",
    "json",
    ...PACE,
    "--seed",
    "9",
  ]);
  const line = await program.find(/^\{"pools":.*/);
  const [bare] = (JSON.parse(line) as { pools: Simulated[] }).pools;
  const bench = await startStorageBench(t, ...SIZE);
  const { admin, list } = bench;
  const [pool] = await list("pools");
  const target = pool!.id;
  const server = await admin.request<string>("server.add", {
    host: bare!.url,
    username: bare!.user,
    password: bare!.password,
  });
  const pools = await until(bench, "pools", "", 2);
  const source = pools.find(({ id }) => id !== target)!.id;
  const [joiner] = await until(bench, "hosts", `$pool:${source}`, 1);
  const merge = { source, target };
  const path = `/pools/${target}/actions/add_host?sync=true`;

  t.test("not where something is in the way", async (t) => {
    t.match(
      await admin.call("pool.mergeInto", { source: target, target: source }),
      {
        error: {
          data: { code: "INCORRECT_STATE", property: "number of hosts" },
        },
      },
    );
    const [own] = await list("hosts", `$pool:${target}`);
    const itself = await admin.rest("POST", path, { host: own!.id });
    t.equal(itself.status, 409);
    const [sr] = await list("srs", `$pool:${target} shared? content_type:user`);
    await admin.request("pool.enableHa", {
      pool: target,
      heartbeatSrs: [sr!.id],
    });
    t.match(await admin.call("pool.mergeInto", merge), {
      error: { data: { property: "HA_enabled", object: target } },
    });
    t.match(await admin.request("pool.getHaState", { pool: target }), {
      enabled: true,
      heartbeatSrs: [sr!.id],
      hostFailuresToTolerate: Number,
    });
    t.match(
      await admin.call("pool.setHaHostFailures", {
        pool: target,
        hostFailuresToTolerate: 64,
      }),
      { error: { code: 10 } },
    );
    await admin.request("pool.setHaHostFailures", {
      pool: target,
      hostFailuresToTolerate: 1,
    });
    t.match(await admin.request("pool.getHaState", { pool: target }), {
      hostFailuresToTolerate: 1,
    });
    await admin.request("pool.disableHa", { pool: target });
    t.match(await admin.call("pool.disableHa", { pool: target }), {
      error: { message: /HA_NOT_ENABLED/ },
    });
    const refusal = {
      method: "pool.join",
      error: "JOINING_HOST_CANNOT_HAVE_RUNNING_VMS",
    };
    await fetch(`${bare!.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify(refusal),
    });
    t.match(await admin.call("pool.mergeInto", merge), {
      error: { message: /JOINING_HOST_CANNOT_HAVE_RUNNING_VMS/ },
    });
    t.equal((await list("pools")).length, 2, "it is followed as before");
  });

  t.test("nor for users without the right", async (t) => {
    const eve = await bench.addUser("eve", {
      [target]: "admin",
      [source]: "viewer",
    });
    t.match(await eve.call("pool.mergeInto", merge), { error: { code: 2 } });
    const host = joiner!.id;
    t.equal((await eve.rest("POST", path, { host })).status, 403);
    const mallory = await bench.addUser("mallory", {
      [target]: "operator",
      [source]: "admin",
    });
    t.match(await mallory.call("pool.mergeInto", merge), {
      error: { code: 2 },
    });
    for (const [method, params] of [
      ["pool.enableHa", { pool: target, heartbeatSrs: [] }],
      ["pool.disableHa", { pool: target }],
      ["pool.setHaHostFailures", { pool: target, hostFailuresToTolerate: 0 }],
    ] as const)
      t.match(await mallory.call(method, params), { error: { code: 2 } });
  });

  t.test("a host joins", async (t) => {
    const answer = await admin.rest("POST", path, { host: joiner!.id });
    t.equal(answer.status, 204, JSON.stringify(answer.body));
    t.equal((await list("hosts", `$pool:${target}`)).length, 4);
    t.match(await list("pools"), [{ id: target }]);
    t.match(await admin.rest("GET", `/hosts/${joiner!.id}`), {
      body: { $pool: target, enabled: true, power_state: "Running" },
    });
    const servers = await admin.request<{ id: string }[]>("server.getAll");
    t.match(
      servers.find(({ id }) => id === server),
      { enabled: false, status: "disconnected" },
    );
    const hosts = await list("hosts", `$pool:${target}`);
    const addresses = hosts.map(({ address }) => address);
    t.match(
      servers.find(({ id }) => id !== server),
      {
        status: "connected",
        poolId: target,
        poolNameDescription: String,
        poolMembersAddresses: addresses.sort(),
      },
    );
    const readiness = "pool.getGuestSecureBootReadiness";
    t.equal(await admin.request(readiness, { id: target }), "ready");
  });

  t.test("an ejected host is a pool of its own", async (t) => {
    await admin.request("host.detach", { id: joiner!.id });
    await until(bench, "hosts", "", 3);
    await admin.request("server.enable", { id: server });
    await until(bench, "pools", "", 2);
    t.match(await list("hosts", `id:${joiner!.id}`), [{ $pool: source }]);
    await admin.request("server.disable", { id: server });
  });

  t.test("another coordinator is followed", async (t) => {
    const host = (await list("hosts", `$pool:${target}`)).find(
      ({ id }) => id !== pool!["master"],
    )!.id;
    const mallory = await bench.addUser("trudy", { [host]: "admin" });
    t.match(await mallory.call("pool.setPoolMaster", { host }), {
      error: { code: 1 },
    });
    await admin.request("host.disable", { id: host });
    t.match(await admin.call("pool.setPoolMaster", { host }), {
      error: { data: { property: "enabled", object: host } },
    });
    await admin.request("host.enable", { id: host });
    await admin.request("pool.setPoolMaster", { host });
    t.match((await list("pools"))[0], { id: target, master: host });
    await admin.request("pool.set", {
      id: target,
      name_label: "renamed by the new coordinator",
    });
    t.match((await list("pools"))[0], {
      name_label: "renamed by the new coordinator",
    });
    await admin.request("pool.setPoolMaster", { host: pool!["master"] });
    t.match((await list("pools"))[0], { master: pool!["master"] });
  });
});
