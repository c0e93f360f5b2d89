import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import { RESTORABLE } from "./restorable-vm.js";
import { storeBackup } from "./stored-backups.js";

t.comment("timeout=300000");

const MIB = 2 ** 20;

/** A server with a pool and a backup of one disk, which can be killed while it restores that. */
async function setUp(t: Test, delayMs: number) {
  const [pool] = await simulate(t, "--hosts", "1", "--vms", "2");
  const cwd = t.testdir({
    "config.yaml": `backups: { workerNiceness: 0 }\npools: [{ label: P0, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const start = async () => {
    const program = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await program.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p0"]?.state === "watching");
    return { program, url, api: await ApiSession.open(t, url) };
  };
  const killed = await start();
  const repository = await createRepository(t, killed.api);
  const backup = await storeBackup(
    repository,
    { uuid: "00000000-0000-4000-8000-00000000000a", name_label: "db" },
    { system: randomBytes(MIB) },
    { records: RESTORABLE },
  );
  await killed.api.request("backupNg.listVmBackups", {
    remotes: [repository.id],
    _forceRefresh: true,
  });
  const sr = (await killed.api.all({ type: "SR" })).find(
    (one) => one["SR_type"] !== "udev" && one["SR_type"] !== "iso",
  )!;
  const slow = { method: "VDI.create", delayMs, times: 1 };
  await fetch(`${pool!.url}/sim/fail`, {
    method: "POST",
    body: JSON.stringify(slow),
  });
  const id = encodeURIComponent(`${repository.id}/${backup}`);
  const path = `/backup-archives/${id}/actions/restore_disk`;
  const request = { disk: "system", sr: sr.id, name: "restored" };
  /** @returns the id of the task, when the pool creates the disk */
  const begin = async (api: ApiSession) => {
    const answer = await api.rest("POST", path, request);
    const { taskId } = (await answer.json()) as { taskId: string };
    while ((await creations(killed.api)).length === 0) await pause(50);
    return taskId;
  };
  return { cwd, start, killed, begin };
}

/** Tasks of the pool. */
async function creations(api: ApiSession) {
  return (await api.all({ type: "task" })).filter(({ name_label }) =>
    String(name_label).endsWith("VDI.create"),
  );
}

/** Resolves when the pool creates no disk any more. @returns the restored disks */
async function disksAtTheEnd(api: ApiSession) {
  while ((await creations(api)).some((one) => one["status"] === "pending"))
    await pause(100);
  return api.all({ type: "VDI", name_label: "restored" });
}

t.test(
  "a disk whose creation was under way at kill -9 is not left behind",
  async (t) => {
    // Longer than the server is away.
    const { start, killed, begin } = await setUp(t, 20_000);
    const taskId = await begin(killed.api);
    await killed.program.stop("SIGKILL");

    const { api } = await start();
    const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await task.json(), { status: "success", result: { id: String } });
    t.equal((await disksAtTheEnd(api)).length, 1, "one disk");
  },
);

t.test(
  "a restore whose user was deleted meanwhile leaves no disk",
  async (t) => {
    const { cwd, start, killed, begin } = await setUp(t, 5_000);
    const userId = String(
      await killed.api.request("user.create", {
        email: "ben",
        password: PASSWORD,
        permission: "admin",
      }),
    );
    const ben = await ApiSession.open(t, killed.url, "ben", PASSWORD);
    const taskId = await begin(ben);
    await killed.program.stop("SIGKILL");
    const store = await openStore({
      location: join(cwd, "data/store.db"),
      key: { file: join(cwd, "data/store.key") },
    });
    await store.users.delete(userId);
    await store.close();

    const { api } = await start();
    const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await task.json(), {
      status: "failure",
      result: { code: "FORBIDDEN_OPERATION" },
    });
    t.same(await disksAtTheEnd(api), []);
  },
);
