import { setTimeout as pause } from "node:timers/promises";
import { findPostgres } from "@xo-server/store/conformance";
import t from "tap";
import { StatusPage } from "../status-page.js";
import { BalancedClient } from "./balanced-client.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

interface BulkTask {
  readonly status: string;
  readonly counts: { readonly succeeded: number; readonly failed: number };
}

t.test(
  "a bulk operation waits while PostgreSQL restarts, and reboots each VM once",
  { skip },
  async (t) => {
    const group = await ServerGroup.open(t, {
      bin: bin!,
      pool: ["--hosts", "3", "--vms", "80"],
    });
    const { url } = await group.start(0);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    const client = await BalancedClient.signIn(url);
    const read = async <T>(path: string, body?: object): Promise<T> => {
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      };
      const answer = await client.fetch(
        `/rest/v0${path}`,
        body === undefined ? {} : init,
      );
      return (await answer.json()) as T;
    };
    const vms = await read<{ id: string; power_state: string }[]>(
      "/vms?fields=id,power_state",
    );
    const ids = vms
      .filter(({ power_state: state }) => state === "Running")
      .map(({ id }) => id)
      .slice(0, 24);
    t.equal(ids.length, 24);
    const { taskId } = await read<{ taskId: string }>("/bulk", {
      method: "vm.restart",
      params: { force: true },
      ids,
      concurrency: 2,
    });
    const task = () => read<BulkTask>(`/tasks/${taskId}`);
    while ((await task()).counts.succeeded < 2) await pause(20);
    await group.postgres.kill();
    await pause(1_500);
    await group.postgres.start();
    let last = await task();
    while (last.status === "pending") {
      await pause(100);
      last = await task();
    }
    t.match(last, { status: "success", counts: { failed: 0 } });
    t.equal(last.counts.succeeded, ids.length);
    const log = await fetch(`${group.pool.url}/sim/calls`);
    const calls = (await log.json()) as { method: string; object: string }[];
    const reboots = calls.filter(({ method }) => method === "VM.hard_reboot");
    t.equal(reboots.length, ids.length);
    t.equal(new Set(reboots.map(({ object }) => object)).size, ids.length);
  },
);
