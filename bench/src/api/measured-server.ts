import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { repositoryRoot } from "../harness/repository.js";
import { ApiClient } from "./api-client.js";
import type { ApiJob } from "./api-job.js";
import type { ProbeAnswer, ServerFigures } from "./server-figures.js";

/** Of the user `admin`. */
const ADMIN_PASSWORD = "correct horse battery";
const POLL_MS = 20;
const TIMEOUT_MS = 120_000;

/** The whole product in a process of its own, with a probe that this process queries. */
export class MeasuredServer {
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Of the admin. */
  readonly token: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  /** Resolves when the server has all objects of its pools. */
  static async start(job: ApiJob): Promise<MeasuredServer> {
    const folder = await mkdtemp(join(tmpdir(), "xo-bench-api-"));
    const config = join(folder, "config.yaml");
    await writeFile(config, configText(job, folder));
    const child = startProcess(config, job.nodeOptions);
    const url = await readUrl(child);
    await untilLoaded(url, job.pools.length);
    return new MeasuredServer(child, folder, {
      url,
      token: await createToken(url),
    });
  }

  private constructor(
    child: ChildProcess,
    folder: string,
    { url, token }: { readonly url: string; readonly token: string },
  ) {
    this.#child = child;
    this.#folder = folder;
    this.url = url;
    this.token = token;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Starts the measurement of the server. */
  async begin(): Promise<void> {
    await this.#request("begin");
  }

  /** Ends the measurement. @returns figures since `begin` */
  async end(): Promise<ServerFigures> {
    return (await this.#request("end")) as ServerFigures;
  }

  /** Resident bytes, after a full collection. */
  async memory(): Promise<number> {
    return (await this.#request("memory")) as number;
  }

  /**
   * A connection on which the admin, or the owner of a token, has signed in.
   */
  connect(token: string = this.token): Promise<ApiClient> {
    return ApiClient.open(this.url, token);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "close");
      this.#child.kill("SIGTERM");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #request(what: "begin" | "end" | "memory"): Promise<ProbeAnswer> {
    const answered = once(this.#child, "message");
    this.#child.send(what);
    const [answer] = (await answered) as [ProbeAnswer];
    return answer;
  }
}

function configText(
  { pools, throttleMs, config }: ApiJob,
  folder: string,
): string {
  return JSON.stringify({
    ...config,
    dataDir: join(folder, "data"),
    http: {
      host: "127.0.0.1",
      port: 0,
      // What is measured is what it can do, not what it allows one client to ask.
      maxMessagesPerSecond: 1_000_000,
      maxMessagesPerUserPerSecond: 1_000_000,
      maxRequestsPerSecond: 1_000_000,
      maxRequestsPerUserPerSecond: 1_000_000,
    },
    ...(throttleMs === undefined ? {} : { xapi: { throttleMs } }),
    pools: pools.map(({ name, url, user, password }) => ({
      label: name,
      hosts: [url],
      user,
      password,
    })),
  });
}

function startProcess(
  config: string,
  nodeOptions: readonly string[],
): ChildProcess {
  const probe = new URL("programs/server-probe.js", import.meta.url);
  const program = join(repositoryRoot, "bin", "xo-server");
  const own = ["--expose-gc", "--import", probe.href, ...nodeOptions];
  const child = spawn(
    process.execPath,
    [...own, program, "start", "--config", config],
    {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      env: { ...process.env, XO_ADMIN_PASSWORD: ADMIN_PASSWORD },
    },
  );
  // However this program ends, the server does not outlive it.
  process.on("exit", () => child.kill("SIGKILL"));
  return child;
}

async function readUrl(child: ChildProcess): Promise<string> {
  let output = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => {
      if (output.length < 100_000) output += chunk.toString();
    });
  while (child.exitCode === null) {
    const found = /listening on (http:\S+)/.exec(output)?.[1];
    if (found !== undefined) return found;
    await setTimeout(POLL_MS);
  }
  throw new Error(`the server ended: ${output.slice(-300)}`);
}

async function untilLoaded(url: string, pools: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  const requested = `xo_inventory_pools{state="watching"} ${pools}`;
  while (pools > 0 && performance.now() < deadline) {
    const answer = await fetch(`${url}/metrics`);
    if ((await answer.text()).includes(requested)) return;
    await setTimeout(POLL_MS);
  }
  if (pools > 0) throw new Error(`not loaded within ${TIMEOUT_MS / 1000} s`);
}

async function createToken(url: string): Promise<string> {
  const client = await ApiClient.open(url);
  await client.call("session.signIn", {
    username: "admin",
    password: ADMIN_PASSWORD,
  });
  const token = await client.call("token.create", {});
  client.close();
  return token as string;
}
