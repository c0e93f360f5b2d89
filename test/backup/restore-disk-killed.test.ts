import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import { RESTORABLE } from "./restorable-vm.js";
import { storeBackup } from "./stored-backups.js";

t.comment("timeout=300000");

const MIB = 2 ** 20;

t.test(
  "a disk whose creation was under way at kill -9 is not left behind",
  async (t) => {
    const [pool] = await simulate(t, "--hosts", "1", "--vms", "2");
    const cwd = t.testdir({
      "config.yaml": `pools: [{ label: P0, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const start = async () => {
      const program = new RunningProgram(t, "xo-server", args, { cwd, env });
      const url = await program.find(/Web server listening on (http:\S+)/);
      const page = await StatusPage.open(t, url, PASSWORD);
      await page.until(({ pools }) => pools["p0"]?.state === "watching");
      return { program, api: await ApiSession.open(t, url) };
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
    // Longer than the server is away.
    const slow = { method: "VDI.create", delayMs: 20_000, times: 1 };
    await fetch(`${pool!.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify(slow),
    });
    const id = encodeURIComponent(`${repository.id}/${backup}`);
    const path = `/backup-archives/${id}/actions/restore_disk`;
    const request = { disk: "system", sr: sr.id, name: "restored" };
    const answer = await killed.api.rest("POST", path, request);
    const { taskId } = (await answer.json()) as { taskId: string };
    const creations = async (api: ApiSession) =>
      (await api.all({ type: "task" })).filter(({ name_label }) =>
        String(name_label).endsWith("VDI.create"),
      );
    while ((await creations(killed.api)).length === 0) await pause(50);
    await killed.program.stop("SIGKILL");

    const { api } = await start();
    const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await task.json(), { status: "success", result: { id: String } });
    while ((await creations(api)).some((one) => one["status"] === "pending"))
      await pause(100);
    const disks = await api.all({ type: "VDI", name_label: "restored" });
    t.equal(disks.length, 1, "one disk");
  },
);
