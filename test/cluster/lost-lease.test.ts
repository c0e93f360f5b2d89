import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { StatusPage } from "../status-page.js";
import { BalancedClient } from "./balanced-client.js";
import { until } from "./lease-owners.js";
import type { ListedVm } from "./requested-action.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** How long the pool takes to reboot the first VM: until the server has its lease again, in ms. */
const REBOOT_MS = 10_000;
/** How long another server has the lease, in ms. */
const TAKEN_MS = 3_000;

/** A takeover by a server that ends before it adopts a task. */
async function takeOver({ postgres }: ServerGroup): Promise<void> {
  const now = "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
  await postgres.query(
    "xo",
    `update leases set owner = 'xo2', instance = 'ended', epoch = epoch + 1, expires_at = ${now} + ${TAKEN_MS} where id = 'server/xo1'`,
  );
}

async function setUp(t: Test) {
  const group = await ServerGroup.open(t, {
    bin: bin!,
    pool: ["--hosts", "2", "--vms", "20", "--churn", "0"],
    settings: "server: { name: NAME, leaseMs: 2000 }",
  });
  const { url, program } = await group.start(0);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  return { group, program, client: await BalancedClient.signIn(url) };
}

t.test(
  "a server that gets back the lease that it had lost continues its tasks",
  { skip },
  async (t) => {
    const { group, program, client } = await setUp(t);
    const list = await client.fetch(
      "/rest/v0/vms?fields=id,power_state,_xapiRef,$container&filter=power_state:Running",
    );
    const vms = ((await list.json()) as readonly ListedVm[]).slice(0, 3);
    await fetch(`${group.pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ method: "VM.hard_reboot", delayMs: REBOOT_MS }),
    });
    const begun = await client.fetch("/rest/v0/bulk", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        method: "vm.restart",
        ids: vms.map(({ id }) => id),
        params: { force: true },
        concurrency: 1,
      }),
    });
    t.equal(begun.status, 202);
    const { taskId } = (await begun.json()) as { taskId: string };
    const rebooted = async () => {
      const calls = await fetch(`${group.pool.url}/sim/calls`);
      return ((await calls.json()) as { method: string; object: string }[])
        .filter(({ method }) => method === "VM.hard_reboot")
        .map(({ object }) => object);
    };
    await until(async () => (await rebooted()).length === 1);
    await takeOver(group);
    await program.find(/another server has taken over server\/xo1/);
    let task: { status: string } = { status: "pending" };
    await until(async () => {
      const answer = await client.fetch(`/rest/v0/tasks/${taskId}`);
      if (answer.status === 200) task = (await answer.json()) as typeof task;
      return task.status !== "pending";
    });
    t.match(task, { status: "success" });
    t.same(
      (await rebooted()).toSorted(),
      vms.map(({ _xapiRef: ref }) => ref).toSorted(),
      "each VM was rebooted once",
    );
  },
);
