import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { ApiSession } from "../api-session.js";
import { createRepository } from "../backup/repository-folders.js";
import { MIB, runJob, smallDisks } from "../backup/vm-with-disks.js";
import { ConsoleClient, opened } from "../console-client.js";
import { StatusPage } from "../status-page.js";
import { BalancedClient } from "./balanced-client.js";
import { CutNetwork } from "./cut-network.js";
import { until } from "./lease-owners.js";
import { PASSWORD } from "./server-group.js";
import { startThree } from "./watching-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

const settings =
  "server: { name: NAME, leaseMs: 3000 }\ninventory: { verifyIntervalMs: 0 }\nhttp: { drainMs: 500 }";

interface Vm {
  readonly id: string;
  readonly power_state: string;
  readonly _xapiRef: string;
}

/** Three servers; the way of each one to the pool can be cut. */
async function openGroup(t: Test) {
  const links: CutNetwork[] = [];
  const { group, members } = await startThree(t, {
    bin: bin!,
    settings,
    pool: ["--churn", "5"],
    proxyTo: async () => {
      const link = await CutNetwork.open();
      t.teardown(() => link.stop());
      links.push(link);
      return `http://127.0.0.1:${link.port}`;
    },
  });
  const client = await BalancedClient.signIn(members[0]!.url);
  const page = await StatusPage.open(t, members[0]!.url, PASSWORD);
  const vms = (await (
    await client.fetch("/rest/v0/vms?fields=id,power_state,_xapiRef")
  ).json()) as Vm[];
  return { group, members, links, client, page, vms };
}

/** Number of times that the pool has received a call for an object, according to its own log. */
async function countCalls(
  pool: { readonly url: string },
  method: string,
  object: string,
): Promise<number> {
  const calls = (await (await fetch(`${pool.url}/sim/calls`)).json()) as {
    readonly method: string;
    readonly object: string;
  }[];
  return calls.filter((one) => one.method === method && one.object === object)
    .length;
}

async function readMetric(url: string, sample: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
  return Number(line?.split(" ")[1]);
}

t.test("a server that cannot reach a pool", { skip }, async (t) => {
  const { group, members, links, client, page, vms } = await openGroup(t);
  const [cut, ...others] = members;
  const halted = vms.filter(({ power_state: state }) => state === "Halted");
  const running = vms.filter(({ power_state: state }) => state === "Running");

  const start = async ({ id }: Vm) => {
    const path = `/rest/v0/vms/${id}/actions/start?sync=true`;
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: "{}" };
    return client.fetch(path, init);
  };

  await t.test("carries out operations through another one", async (t) => {
    links[0]!.cut();
    const [vm] = halted;
    const answer = await start(vm!);
    t.ok(answer.ok, `${answer.status} ${await answer.text()}`);
    t.equal(await countCalls(group.pool, "VM.start", vm!._xapiRef), 1);
    const shown = await client.fetch(
      `/rest/v0/vms/${vm!.id}?fields=power_state`,
    );
    t.match(await shown.json(), { power_state: "Running" });
  });

  await t.test("shows through which one", async (t) => {
    const status = await page.until(({ pools }) => pools["p"]?.via != null);
    t.match(status.pools["p"], { state: "watching", via: /^xo[23]$/ });
    const opened = "xo_tunnels_opened_total";
    t.ok(
      (await readMetric(cut!.url, `${opened}{direction="used"}`)) > 0,
      "counts tunnels that it uses",
    );
    const served = await Promise.all(
      others.map(({ url }) => readMetric(url, `${opened}{direction="served"}`)),
    );
    t.ok(Math.max(...served) > 0, "the other one counts those that it serves");
  });

  await t.test("lists, exports and opens consoles", async (t) => {
    const answer = await client.fetch("/rest/v0/vms?fields=id");
    t.equal(((await answer.json()) as Vm[]).length, vms.length);
    const exported = await client.fetch(`/rest/v0/vms/${halted[1]!.id}.xva`);
    const xva = Buffer.from(await exported.arrayBuffer());
    t.equal(xva.toString("latin1", 0, 7), "ova.xml");
    const ticket = await client.fetch("/rest/v0/session/ticket", {
      method: "POST",
    });
    const query = new URLSearchParams(
      (await ticket.json()) as Record<string, string>,
    );
    const console = opened(
      await ConsoleClient.open(
        t,
        `${cut!.url}/api/consoles/${running[0]!.id}?${query.toString()}`,
      ),
    );
    const { width, height } = await console.shakeHands();
    t.equal((await console.picture(width, height)).length, 4 * width * height);
    console.socket.close(1000);
  });

  await t.test("imports what it has exported", async (t) => {
    const exported = await client.fetch(`/rest/v0/vms/${halted[1]!.id}.xva`);
    const xva = Buffer.from(await exported.arrayBuffer());
    const pools = await client.fetch("/rest/v0/pools?fields=id");
    const [{ id }] = (await pools.json()) as [{ id: string }];
    const imported = await client.fetch(`/rest/v0/pools/${id}/vms`, {
      method: "POST",
      body: xva,
    });
    t.ok(imported.ok, `${imported.status} ${await imported.text()}`);
  });

  await t.test("backs up, by a worker of its own", async (t) => {
    const api = await ApiSession.open(t, cut!.url);
    const { id: repository } = await createRepository(t, api);
    const vm = await smallDisks(api, ["system"]);
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [repository],
      retention: { keepLast: 10 },
    };
    const write = { vdi: vm.disks[0], pattern: "sequential", seed: 1 };
    await fetch(`${group.pool.url}/sim/write`, {
      method: "POST",
      body: JSON.stringify({ ...write, bytes: 4 * MIB }),
    });
    for (const preferNbd of [false, true]) {
      const settings = { ...job, preferNbd };
      const id = String(await api.request("job.create", { job: settings }));
      const run = await runJob(api, id);
      t.equal(run.status, "success", JSON.stringify(run));
      const [disk] = run.vms[0]!.repositories![0]!.disks!;
      const expected = preferNbd ? "nbd" : "vhd";
      t.equal(disk!.source, expected, JSON.stringify(disk));
    }
  });

  await t.test("uses a third one when that one is killed", async (t) => {
    const { pools } = await page.until(({ pools }) => pools["p"]?.via != null);
    const helper = members[Number(pools["p"]!.via!.slice(2)) - 1]!;
    await helper.program.stop("SIGKILL");
    const [, , vm] = halted;
    const answer = await start(vm!);
    t.ok(answer.ok, `${answer.status} ${await answer.text()}`);
    t.equal(await countCalls(group.pool, "VM.start", vm!._xapiRef), 1);
  });

  await t.test("reaches it directly again by itself", async (t) => {
    const before = links[0]!.passed;
    links[0]!.repair();
    await page.until(
      ({ pools }) => pools["p"]?.via == null && pools["p"]?.state != null,
    );
    const [, , , vm] = halted;
    const answer = await start(vm!);
    t.ok(answer.ok, `${answer.status} ${await answer.text()}`);
    t.ok(links[0]!.passed > before);
    await until(
      async () =>
        (await readMetric(cut!.url, 'xo_tunnels{direction="used"}')) === 0,
    );
  });
});
