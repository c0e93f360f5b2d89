import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres, PostgresCluster } from "@xo-server/store/conformance";
import { ServerProcess } from "../harness/server-process.js";
import { startSimulator, type Simulator } from "../harness/simulator.js";

export const ADMIN_PASSWORD = "correct horse battery";

/** The time of a lease, in ms: the default of `server.leaseMs`. */
export const LEASE_MS = 4_000;

const WATCHING = 'xo_inventory_pools{state="watching"}';

export interface GroupShape {
  readonly servers: number;
  readonly pools: number;
  readonly vmsPerPool: number;
  /** Changes a second of all pools together. Default: 0. */
  readonly churn?: number;
}

/** A large fleet on a busy machine is listed within this time, in ms. */
const LOAD_MS = 900_000;

/** Servers on one PostgreSQL database over the same simulated pools. */
export class BenchGroup {
  readonly postgres: PostgresCluster;
  readonly servers: ServerProcess[] = [];
  readonly #folder: string;
  readonly #simulator: Simulator;
  #configs: readonly string[] = [];

  private constructor(
    postgres: PostgresCluster,
    folder: string,
    simulator: Simulator,
  ) {
    this.postgres = postgres;
    this.#folder = folder;
    this.#simulator = simulator;
  }

  get pools(): Simulator["pools"] {
    return this.#simulator.pools;
  }

  /**
   * Resolves when all servers have all VMs.
   * @throws Error without PostgreSQL
   */
  static async start(shape: GroupShape): Promise<BenchGroup> {
    const bin = findPostgres();
    if (bin === undefined) throw new Error("PostgreSQL is not installed");
    const postgres = new PostgresCluster(bin);
    const folder = await mkdtemp(join(tmpdir(), "xo-cluster-"));
    const { pools, vmsPerPool } = shape;
    const simulator = await startSimulator([
      "--derived",
      `${pools}x${vmsPerPool}`,
      "--prepare",
      "json",
      "--churn",
      String(Math.ceil((shape.churn ?? 0) / pools)),
    ]);
    const group = new BenchGroup(postgres, folder, simulator);
    try {
      await postgres.start();
      await postgres.query("postgres", "create database xo");
      // The first one creates the key.
      for (let i = 0; i < shape.servers; i++) await group.addServer();
      return group;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const server of this.servers) server.kill();
    await this.#simulator.stop();
    await this.postgres.remove();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Resolves when a further server has all pools. */
  async addServer(): Promise<ServerProcess> {
    const i = this.servers.length;
    const data = join(this.#folder, String(i));
    await mkdir(data);
    if (i > 0)
      await copyFile(
        join(this.#folder, "0", "store.key"),
        join(data, "store.key"),
      );
    const pools = this.#simulator.pools.map(
      ({ url, user, password }, p) =>
        `  - { label: P${p}, hosts: ["${url}"], user: ${user}, password: ${password} }`,
    );
    const config = join(data, "config.yaml");
    const lines = [
      `dataDir: ${data}`,
      `server: { name: ${nameOf(i)}, leaseMs: ${LEASE_MS} }`,
      "pools:",
      ...pools,
      "",
    ];
    await writeFile(config, lines.join("\n"));
    this.#configs = [...this.#configs, config];
    return this.restart(i);
  }

  /** Starts a server that was killed. Resolves when it has all pools. */
  async restart(i: number): Promise<ServerProcess> {
    const server = new ServerProcess(this.#configs[i]!, {
      XO_ADMIN_PASSWORD: ADMIN_PASSWORD,
      XO_STORE: this.postgres.url("xo"),
    });
    this.servers[i] = server;
    await server.untilAtLeast(WATCHING, this.pools.length, LOAD_MS);
    return server;
  }
}

/** `server.name` of a server. @param i index, from 0 */
export function nameOf(i: number): string {
  return `xo${i + 1}`;
}
