import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { RunningProgram, type ProgramOwner } from "../../running-program.js";
import { KillableClient } from "../killable-client.js";
import { CallProxy } from "./call-proxy.js";
import { LimitedFolder } from "./limited-folder.js";
import { SimulatedDisks } from "./simulated-disks.js";

const PASSWORD = "correct horse battery";
const START = ["start", "--host", "127.0.0.1", "--port", "0"];
const LISTENING = /Web server listening on http:\/\/(\S+)/;
/** Time in which a server has to load the pool, in ms. */
const LOADED_MS = 180_000;

export interface SiteRepository {
  readonly id: string;
  readonly folder: string;
  readonly recoveryKey: string;
}

/** A VM whose disks are small. */
export interface SiteVm {
  readonly id: string;
  /** UUIDs by the names of its disks. */
  readonly disks: ReadonlyMap<string, string>;
}

/** A server that can be killed, with a simulated pool and repositories that stay. */
export class Site {
  readonly cwd: string;
  readonly pool: SimulatedDisks;
  readonly proxy: CallProxy;
  /** The second repository is there. Undefined: this user may not mount it. */
  readonly limited: LimitedFolder | undefined;
  readonly startMs: number[] = [];
  readonly #owner: ProgramOwner;
  #token = "";
  #server: RunningProgram | undefined;
  #client: KillableClient | undefined;

  static async create(owner: ProgramOwner, cwd: string): Promise<Site> {
    const home = join(cwd, "pool");
    await mkdir(home);
    const pool = await SimulatedDisks.start(owner, home);
    const proxy = await CallProxy.start(owner, pool.urls);
    const mount = join(cwd, "limited");
    await mkdir(mount);
    const limited = await LimitedFolder.mount(mount);
    if (limited !== undefined) owner.teardown(() => limited.unmount());
    await writeFile(
      join(cwd, "config.yaml"),
      `backups: { workerNiceness: 0 }\npools: [{ label: P, hosts: ["${proxy.url}"], password: password }]`,
    );
    return new Site(owner, { cwd, pool, proxy, limited });
  }

  private constructor(
    owner: ProgramOwner,
    parts: Pick<Site, "cwd" | "pool" | "proxy" | "limited">,
  ) {
    this.#owner = owner;
    this.cwd = parts.cwd;
    this.pool = parts.pool;
    this.proxy = parts.proxy;
    this.limited = parts.limited;
  }

  /** Process id of the server. */
  get pid(): number {
    return this.#server!.child.pid!;
  }

  /** The last lines that the server has written. */
  get output(): string {
    return this.#server?.lines.slice(-30).join("\n") ?? "";
  }

  /** Starts the server and waits until it knows the pool. */
  async start(): Promise<void> {
    const begun = performance.now();
    this.launch();
    const host = await this.#server!.find(LISTENING);
    const client = new KillableClient(host);
    this.#client = client;
    if (this.#token === "") {
      await client.signIn(PASSWORD);
      this.#token = String(await client.request("token.create", {}));
    } else await client.signInByToken(this.#token);
    const end = Date.now() + LOADED_MS;
    while ((await this.all({ type: "VM" })).length === 0) {
      if (Date.now() > end) throw new Error(`not loaded:\n${this.output}`);
      await pause(50);
    }
    this.startMs.push(performance.now() - begun);
  }

  /** Starts the server, and does not wait. */
  launch(): void {
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const options = { cwd: this.cwd, env };
    this.#server = new RunningProgram(this.#owner, "xo-server", START, options);
  }

  /** Kills the server. Resolves when it has ended. */
  async kill(): Promise<void> {
    await this.stop("SIGKILL");
  }

  /** @returns how the server ended */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | string> {
    if (signal !== "SIGKILL") this.#client?.terminate();
    const ended = await this.#server!.stop(signal);
    this.#client?.terminate();
    return ended;
  }

  /** @returns undefined: the server was killed. @throws what it refuses */
  request(method: string, params: object = {}): Promise<unknown> {
    return this.#client!.request(method, params);
  }

  async all(
    filter: object,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const found = await this.request("xo.getAllObjects", { filter });
    return Object.values(
      (found ?? {}) as Record<string, Record<string, unknown>>,
    );
  }

  /** A new repository. @param folder an empty folder */
  async createRepository(
    name: string,
    folder: string,
  ): Promise<SiteRepository> {
    await mkdir(folder, { recursive: true });
    const { id, recoverySheet } = (await this.request("remote.create", {
      name,
      url: `file://${folder}`,
      passphrase: "passphrase of the kills",
    })) as { id: string; recoverySheet: string };
    const recoveryKey = [...recoverySheet.matchAll(/^ {4}([A-Z2-7-]{34})$/gm)]
      .map(([, half]) => half)
      .join("-");
    return { id, folder, recoveryKey };
  }

  /** Gives a VM of the pool new disks of 8 MiB in place of its own. */
  async prepareVm(nth: number, names: readonly string[]): Promise<SiteVm> {
    const { id, $VBDs, power_state } = (await this.all({ type: "VM" }))[nth]!;
    if (power_state !== "Halted")
      await this.request("vm.stop", {
        id,
        force: true,
        bypassBlockedOperation: true,
      });
    let sr: unknown;
    for (const vbd of $VBDs as string[]) {
      const [{ VDI, is_cd_drive } = {}] = await this.all({ id: vbd });
      if (is_cd_drive === true || typeof VDI !== "string") continue;
      sr = (await this.all({ id: VDI }))[0]!["$SR"];
      await this.request("vdi.delete", { id: VDI });
    }
    const disks = new Map<string, string>();
    for (const name of names) {
      const disk = { name, size: 8 * 2 ** 20, sr, vm: id };
      disks.set(name, String(await this.request("disk.create", disk)));
    }
    return { id: String(id), disks };
  }
}
