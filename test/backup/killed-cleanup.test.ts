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
  "a killed server takes no other snapshot for a stored backup; tracking data goes with its disk",
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
    const sim = new SimulatedPool(pool!.url);
    let { server, api } = await start();
    const { id: repository } = await createRepository(t, api);
    const { id: vm, disks } = await smallDisks(api, ["system", "data"]);
    const write = (seed: number) =>
      Promise.all(
        disks.map((vdi, i) =>
          sim.post("write", {
            vdi,
            pattern: "random",
            bytes: MIB / 4,
            seed: 10 * seed + i,
          }),
        ),
      );
    const createJob = (name: string, purgeSnapshotData: boolean) =>
      api.request("job.create", {
        job: {
          type: "backup",
          name,
          vms: [vm],
          repositories: [repository],
          retention: { keepLast: 7 },
          purgeSnapshotData,
        },
      });
    /** The server is killed at this call of a run; the VM writes until its next start. */
    const killAt = async (
      id: string,
      method: string,
      meanwhile?: () => Promise<void>,
    ) => {
      await sim.post("fail", { method, delayMs: 3_600_000 });
      const before = await sim.count(method);
      await api.request("job.runNow", { id });
      while ((await sim.count(method)) === before) await pause(50);
      await server.stop("SIGKILL");
      await sim.post("fail", { clear: true });
      await meanwhile?.();
      await write(3);
      ({ server, api } = await start());
      let run = await lastRun(api, id);
      for (; run.status === "pending"; run = await lastRun(api, id))
        await pause(100);
      t.equal(run.status, "success", JSON.stringify(run));
    };
    const snapshotsOf = async (disk: string) => {
      const ref = await sim.call("VDI.get_by_uuid", [disk]);
      return (await sim.call("VDI.get_snapshots", [ref])) as string[];
    };
    /** All that was written while the server did not run is in the next backup. */
    const compareNext = async (id: string) => {
      const run = await runJob(api, id);
      t.equal(run.status, "success", JSON.stringify(run));
      const backup = `${repository}/${run.vms[0]!.repositories![0]!.backup}`;
      for (const disk of disks)
        t.equal(
          await hashOf(
            api,
            `/backup-archives/${encodeURIComponent(backup)}/disks/${disk}.raw`,
          ),
          await hashOf(api, `/vdis/${disk}.raw`),
        );
    };

    const purging = String(await createJob("purging", true));
    await write(1);
    t.equal((await runJob(api, purging)).status, "success");
    await write(2);
    // The snapshot is deleted; its disks still have their data.
    await killAt(purging, "VDI.data_destroy");
    for (const disk of disks) {
      const snapshots = await snapshotsOf(disk);
      t.equal(snapshots.length, 1, "one snapshot of each disk");
      const type = await sim.call("VDI.get_type", [snapshots[0]]);
      t.equal(type, "cbt_metadata", "without data");
    }
    await compareNext(purging);

    const keeping = String(await createJob("keeping", false));
    await killAt(keeping, "VM.remove_from_blocked_operations", async () => {
      const ref = await sim.call("VM.get_by_uuid", [vm]);
      const [snapshot] = (await sim.call("VM.get_snapshots", [
        ref,
      ])) as string[];
      t.ok(snapshot, "an administrator deletes the snapshot of the run");
      await sim.call("VM.destroy", [snapshot]);
      for (const disk of await Promise.all(disks.map(snapshotsOf)))
        for (const one of disk)
          if ((await sim.call("VDI.get_type", [one])) !== "cbt_metadata")
            await sim.call("VDI.destroy", [one]);
    });
    await compareNext(keeping);

    const trackingData = () =>
      api.all({ type: "VDI-snapshot", VDI_type: "cbt_metadata" });
    t.equal((await trackingData()).length, 2, "of the job that purges");
    await api.request("vm.delete", { id: vm });
    await server.stop();
    ({ server, api } = await start());
    while ((await trackingData()).length > 0) await pause(100);
    t.pass("the next start deletes tracking data of disks that are gone");
    await server.stop();
  },
);

/** A simulated pool, past the server. */
class SimulatedPool {
  readonly #url: string;
  #session: unknown;

  constructor(url: string) {
    this.#url = url;
  }

  async post(path: string, body: object): Promise<void> {
    const answer = await this.#fetch(`/sim/${path}`, body);
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** How often a method was called. */
  async count(method: string): Promise<number> {
    const answer = await fetch(`${this.#url}/sim/calls`);
    return (await answer.text()).split(method).length - 1;
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const credentials = ["root", "password", "", ""];
    this.#session ??= await this.#send(
      "session.login_with_password",
      credentials,
    );
    return this.#send(method, [this.#session, ...params]);
  }

  async #send(method: string, params: readonly unknown[]): Promise<unknown> {
    const call = { jsonrpc: "2.0", id: 1, method, params };
    const answer = await this.#fetch("/jsonrpc", call);
    const { result, error } = (await answer.json()) as {
      result?: unknown;
      error?: { message: string };
    };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  #fetch(path: string, body: object): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
  }
}

async function hashOf(api: ApiSession, path: string): Promise<string> {
  const answer = await api.rest("GET", path);
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  const content = Buffer.from(await answer.arrayBuffer());
  return createHash("sha256").update(content).digest("hex");
}
