import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withSimulator, type PoolAddress } from "../harness/simulator.js";
import type { Figures } from "../harness/figures.js";
import type { ChurnJob } from "../measure/churn-job.js";
import type { LoadJob } from "../measure/load-job.js";
import type { PeerJob } from "../measure/peer-job.js";
import type { PersistJob, RestartJob } from "../measure/restart-job.js";
import { measureProgram, type Row } from "./row.js";
import type { Scale } from "./scale.js";
import { restartServer } from "./server-restart.js";

/** Key of the snapshot cache: any 32 bytes in hexadecimal digits. */
const KEY = "5a".repeat(32);

/** Rows about a simulated pool in a process of its own. */
export function simulatedRows(scale: Scale): Row[] {
  const { profile, changesPerSecond } = scale;
  const quiet = ["--pool", profile];
  const churning = [...quiet, "--churn", String(changesPerSecond)];
  const row = (
    section: Row["section"],
    mode: string,
    measure: () => Promise<Figures>,
  ): Row => ({ section, mode, pool: profile, measure });
  return [
    ...scale.churnReaders.map((readers) =>
      row("churn", `views, ${readers} readers`, () =>
        churn(churning, scale, { hasViews: true, readers }),
      ),
    ),
    row("churn", "mirror alone", () =>
      churn(churning, scale, { hasViews: false, readers: 0 }),
    ),
    row("restart", "inventory", () => withPool(quiet, restart)),
    row("restart", "xo-server", () => restartProgram(quiet)),
    row("memory", "inventory", () =>
      withPool(quiet, (pool) => load(pool, false)),
    ),
    row("memory", "inventory and views", () =>
      withPool(quiet, (pool) => load(pool, true)),
    ),
    row("memory", "npm xen-api", () =>
      withPool(quiet, (pool) => {
        const job: PeerJob = { pool, transport: "json-rpc" };
        return measureProgram("peer", job);
      }),
    ),
  ];
}

function withPool(
  args: readonly string[],
  measure: (pool: PoolAddress) => Promise<Figures>,
): Promise<Figures> {
  return withSimulator(args, ({ pools }) => measure(pools[0]!));
}

function churn(
  args: readonly string[],
  { churnMs, churnQuietMs }: Scale,
  kind: Pick<ChurnJob, "hasViews" | "readers">,
): Promise<Figures> {
  return withPool(args, (pool) => {
    const job: ChurnJob = {
      pool,
      durationMs: churnMs,
      quietMs: churnQuietMs,
      ...kind,
    };
    return measureProgram("churn", job);
  });
}

function load(pool: PoolAddress, hasViews: boolean): Promise<Figures> {
  const job: LoadJob = {
    pools: [pool],
    transport: "auto",
    xml: "reader",
    place: "auto",
    hasViews,
  };
  return measureProgram("load", job);
}

function restartProgram(args: readonly string[]): Promise<Figures> {
  return withSimulator(args, restartServer);
}

/** One process writes the snapshot cache and ends, another one loads it. */
async function restart(pool: PoolAddress): Promise<Figures> {
  const directory = await mkdtemp(join(tmpdir(), "xo-bench-snapshots-"));
  try {
    const job: PersistJob = { pool, directory, key: KEY };
    const { objects = 0, diskBytes = 0 } = await measureProgram(
      "persist-pool",
      job,
    );
    const restartJob: RestartJob = {
      poolId: pool.name,
      directory,
      key: KEY,
      objects,
      startedAt: Date.now(),
    };
    return { ...(await measureProgram("restart", restartJob)), diskBytes };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
