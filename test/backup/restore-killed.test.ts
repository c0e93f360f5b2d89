import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { ApiSession, PASSWORD, type Thing } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import { RESTORABLE } from "./restorable-vm.js";
import { storeBackup } from "./stored-backups.js";

t.comment("timeout=300000");

const MIB = 2 ** 20;

t.test(
  "a restore continues after kill -9, and leaves nothing behind",
  async (t) => {
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
      return { program, api: await ApiSession.open(t, url) };
    };
    let { program, api } = await start();
    const uploadTasks = async () =>
      (await api.all({ type: "task" })).filter(({ name_label }) =>
        String(name_label).startsWith("Restore of"),
      );
    const repository = await createRepository(t, api);
    const disks = { d0: randomBytes(48 * MIB), d1: randomBytes(48 * MIB) };
    const backup = await storeBackup(
      repository,
      { uuid: "00000000-0000-4000-8000-00000000000a", name_label: "db" },
      disks,
      { records: RESTORABLE },
    );
    const id = `${repository.id}/${backup}`;
    await api.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    });
    const sr = (await api.all({ type: "SR" })).find(
      (one) => one["SR_type"] !== "udev" && one["SR_type"] !== "iso",
    )!;
    const before = (await api.all({ type: "VDI" })).length;
    const path = `/backup-archives/${encodeURIComponent(id)}/actions/restore`;
    const answer = await api.rest("POST", path, {
      sr: sr.id,
      name: "restored",
    });
    const { taskId } = (await answer.json()) as { taskId: string };
    // The server is killed at a different point of the restore each time.
    for (const ms of [150, 900, 2_000]) {
      await pause(ms);
      const { child } = program;
      child.kill("SIGKILL");
      await program.ended;
      ({ program, api } = await start());
    }
    const task = (await (
      await api.rest("GET", `/tasks/${taskId}?wait=true`)
    ).json()) as Thing;
    if (task["status"] !== "success") t.comment(JSON.stringify(task));
    t.match(task, { status: "success", result: { id: String } });
    const vms = (await api.all({ type: "VM" })).filter((vm) =>
      /restore/.test(String(vm["name_label"])),
    );
    t.same(
      vms.map((vm) => vm["name_label"]),
      ["restored"],
      "one VM",
    );
    t.equal((await api.all({ type: "VDI" })).length, before + 2, "two disks");
    t.same(await uploadTasks(), [], "no XAPI task of an upload");
    for (const [disk, content] of Object.entries(disks)) {
      const vdis = await api.all({ type: "VDI", name_label: disk });
      t.equal(vdis.length, 1);
      const raw = await api.rest("GET", `/vdis/${vdis[0]!.id}.raw`);
      t.ok(Buffer.from(await raw.arrayBuffer()).equals(content), disk);
    }
  },
);
