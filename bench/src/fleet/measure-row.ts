import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureInChild } from "../harness/child.js";
import type { Figures } from "../harness/figures.js";
import { withSimulator, type Simulator } from "../harness/simulator.js";
import type {
  FleetDayJob,
  FleetJob,
  FleetRestartJob,
} from "../measure/fleet-job.js";
import type { FleetOptions } from "./fleet-options.js";
import type { RowName } from "./fleet-row.js";

const LOAD_TIMEOUT_MS = 300_000;
/** A change of the simulated day takes some 30 us. */
const DAY_TIMEOUT_MS = 3600_000;
/** Of the single pool. */
const POOL_CHURN = 200;

/** One run of one row. */
export function measureRow(
  row: RowName,
  options: FleetOptions,
): Promise<Figures> {
  switch (row) {
    case "mirror":
    case "views":
      return withFleet(options, (simulator) =>
        measureFleet(simulator, options, {
          hasViews: row === "views",
          changesPerSecond: options.churn,
        }),
      );
    case "pool":
      return withSimulator(["--pool", options.single], (simulator) =>
        measureFleet(simulator, options, {
          hasViews: true,
          changesPerSecond: POOL_CHURN,
        }),
      );
    case "day":
      return measureDay(options);
    case "restart":
      return withFleet(options, (simulator) =>
        measureRestart(simulator, options),
      );
  }
}

function measureFleet(
  { pools, pid }: Simulator,
  options: FleetOptions,
  how: Pick<FleetJob, "hasViews" | "changesPerSecond">,
): Promise<Figures> {
  const { restMs, churnMs } = options;
  const job: FleetJob = { pools, restMs, churnMs, simulatorPid: pid, ...how };
  return measureInChild({
    program: "measure/fleet.js",
    job,
    timeoutMs: LOAD_TIMEOUT_MS + restMs + 2 * churnMs,
    nodeOptions: profiling(options),
  });
}

function measureDay(options: FleetOptions): Promise<Figures> {
  const { pools, vms, hours, dayChurn } = options;
  const job: FleetDayJob = { pools, vms, hours, changesPerSecond: dayChurn };
  return measureInChild({
    program: "measure/fleet-day.js",
    job,
    timeoutMs: DAY_TIMEOUT_MS,
    nodeOptions: profiling(options),
  });
}

/** Two processes, one after the other: the first fills the memory that the second starts with. */
async function measureRestart(
  { pools }: Simulator,
  options: FleetOptions,
): Promise<Figures> {
  const directory = await mkdtemp(join(tmpdir(), "xo-bench-memory-"));
  const key = randomBytes(32).toString("hex");
  const run = (objects: number): Promise<Figures> => {
    const job: FleetRestartJob = { pools, directory, key, objects };
    return measureInChild({
      program: "measure/fleet-restart.js",
      job,
      timeoutMs: LOAD_TIMEOUT_MS,
      nodeOptions: profiling(options),
    });
  };
  try {
    const first = await run(0);
    return await run(first["objects"]!);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function withFleet<Result>(
  { pools, vms }: FleetOptions,
  measure: (simulator: Simulator) => Promise<Result>,
): Promise<Result> {
  return withSimulator(["--derived", `${pools}x${vms}`], measure);
}

function profiling({ profile }: FleetOptions): readonly string[] {
  return profile === undefined
    ? []
    : ["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${profile}`];
}
