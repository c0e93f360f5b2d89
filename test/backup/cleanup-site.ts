import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import {
  MIB,
  lastRun,
  runJob,
  smallDisks,
  type SmallVm,
} from "./vm-with-disks.js";

/** A simulated pool with a VM whose jobs are killed at a call, and a server that is started again. */
export class CleanupSite {
  readonly sim: SimulatedPool;
  readonly #t: Test;
  readonly #cwd: string;
  #server: RunningProgram | undefined;
  #api: ApiSession | undefined;
  #vm: SmallVm | undefined;
  #repository = "";

  static async create(t: Test): Promise<CleanupSite> {
    const [pool] = await simulate(t, "--hosts", "1", "--vms", "6");
    const cwd = t.testdir({
      "config.yaml": `backups: { workerNiceness: 0 }\npools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });
    const site = new CleanupSite(t, cwd, new SimulatedPool(pool!.url));
    await site.start();
    site.#repository = (await createRepository(t, site.api)).id;
    site.#vm = await smallDisks(site.api, ["system", "data"]);
    return site;
  }

  private constructor(t: Test, cwd: string, sim: SimulatedPool) {
    this.#t = t;
    this.#cwd = cwd;
    this.sim = sim;
  }

  get api(): ApiSession {
    return this.#api!;
  }

  get vm(): SmallVm {
    return this.#vm!;
  }

  async start(): Promise<void> {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const options = { cwd: this.#cwd, env: { XO_ADMIN_PASSWORD: PASSWORD } };
    this.#server = new RunningProgram(this.#t, "xo-server", args, options);
    const url = await this.#server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(this.#t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    this.#api = await ApiSession.open(this.#t, url);
  }

  /** Id of the repository of the jobs. */
  get repository(): string {
    return this.#repository;
  }

  stop(signal?: NodeJS.Signals): Promise<number | string> {
    return this.#server!.stop(signal);
  }

  /** The VM writes other bytes to the same blocks for each seed. */
  async write(seed: number): Promise<void> {
    for (const [i, vdi] of this.vm.disks.entries()) {
      const bytes = MIB / 4;
      const at = { vdi, pattern: "random", bytes, seed: 10 * seed + i };
      await this.sim.post("write", at);
    }
  }

  async createJob(name: string, purgeSnapshotData: boolean): Promise<string> {
    const job = {
      type: "backup",
      name,
      vms: [this.vm.id],
      repositories: [this.#repository],
      retention: { keepLast: 7 },
      purgeSnapshotData,
    };
    return String(await this.api.request("job.create", { job }));
  }

  /** The server is killed at this call of a run; the VM writes until the next start, which continues the run. */
  async killAt(
    job: string,
    method: string,
    meanwhile?: () => Promise<void>,
  ): Promise<void> {
    const { sim } = this;
    await sim.post("fail", { method, delayMs: 3_600_000 });
    const before = await sim.count(method);
    await this.api.request("job.runNow", { id: job });
    while ((await sim.count(method)) === before) await pause(50);
    await this.#server!.stop("SIGKILL");
    await sim.post("fail", { clear: true });
    await meanwhile?.();
    await this.write(3);
    await this.start();
    let run = await lastRun(this.api, job);
    for (; run.status === "pending"; run = await lastRun(this.api, job))
      await pause(100);
    this.#t.equal(run.status, "success", JSON.stringify(run));
  }

  /** The next backup has all that was written while the server did not run. */
  async compareNext(job: string): Promise<void> {
    const run = await runJob(this.api, job);
    this.#t.equal(run.status, "success", JSON.stringify(run));
    const { backup } = run.vms[0]!.repositories![0]!;
    const id = encodeURIComponent(`${this.#repository}/${backup}`);
    for (const disk of this.vm.disks)
      this.#t.equal(
        await this.#hashOf(`/backup-archives/${id}/disks/${disk}.raw`),
        await this.#hashOf(`/vdis/${disk}.raw`),
      );
  }

  /** References of the snapshots of a disk. */
  async snapshotsOf(disk: string): Promise<readonly string[]> {
    const ref = await this.sim.call("VDI.get_by_uuid", [disk]);
    return (await this.sim.call("VDI.get_snapshots", [ref])) as string[];
  }

  async #hashOf(path: string): Promise<string> {
    const answer = await this.api.rest("GET", path);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    const content = Buffer.from(await answer.arrayBuffer());
    return createHash("sha256").update(content).digest("hex");
  }
}

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
