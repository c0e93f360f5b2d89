import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import { MIB, lastRun, runJob, smallDisks } from "./vm-with-disks.js";

// Real programs on a busy machine.
t.comment("timeout=600000");

t.test(
  "a server that is killed after it has deleted its snapshot does not take another one as base",
  { timeout: 600_000 },
  async (t) => {
    const [pool] = await simulate(t, "--hosts", "1", "--vms", "6");
    const cwd = t.testdir({
      "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });
    const start = async () => {
      const args = ["start", "--host", "127.0.0.1", "--port", "0"];
      const env = { XO_ADMIN_PASSWORD: PASSWORD };
      const server = new RunningProgram(t, "xo-server", args, { cwd, env });
      const url = await server.find(/Web server listening on (http:\S+)/);
      const page = await StatusPage.open(t, url, PASSWORD);
      await page.until(({ pools }) => pools["p"]?.state === "watching");
      return { server, api: await ApiSession.open(t, url) };
    };
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${pool!.url}/sim/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(await answer.text());
    };
    let { server, api } = await start();
    const { id: repository } = await createRepository(t, api);
    const { id: vm, disks } = await smallDisks(api, ["system", "data"]);
    const write = async (seed: number) => {
      for (const vdi of disks)
        await post("write", { vdi, pattern: "random", bytes: MIB / 4, seed });
    };
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm],
      repositories: [repository],
      retention: { keepLast: 7 },
      purgeSnapshotData: true,
    };
    const id = String(await api.request("job.create", { job }));
    await write(1);
    t.equal((await runJob(api, id)).status, "success");

    await write(2);
    // The data of one disk is destroyed, that of the other one is not.
    const held = { method: "VDI.data_destroy", delayMs: 3_600_000 };
    await post("fail", held);
    await api.request("job.runNow", { id });
    const calls = async () => {
      const answer = await fetch(`${pool!.url}/sim/calls`);
      return (await answer.text()).split("VDI.data_destroy").length - 1;
    };
    const before = await calls();
    while ((await calls()) === before) await pause(50);
    await server.stop("SIGKILL");
    await write(3);
    await post("fail", { clear: true });
    ({ server, api } = await start());
    let run = await lastRun(api, id);
    for (; run.status === "pending"; run = await lastRun(api, id))
      await pause(100);
    t.equal(run.status, "success", JSON.stringify(run));
    t.same(
      await api.all({ type: "VM-snapshot", $snapshot_of: vm }),
      [],
      "no snapshot is left",
    );
    const last = await runJob(api, id);
    t.equal(last.status, "success", JSON.stringify(last));
    const backup = `${repository}/${last.vms[0]!.repositories![0]!.backup}`;
    for (const disk of disks) {
      const path = `/backup-archives/${encodeURIComponent(backup)}/disks/${disk}.raw`;
      t.equal(
        await hashOf(api, path),
        await hashOf(api, `/vdis/${disk}.raw`),
        "the next backup has what was written while the server did not run",
      );
    }
    await server.stop();
  },
);

async function hashOf(api: ApiSession, path: string): Promise<string> {
  const answer = await api.rest("GET", path);
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  const content = Buffer.from(await answer.arrayBuffer());
  return createHash("sha256").update(content).digest("hex");
}
