import { startSimulator, type PoolAddress } from "../harness/simulator.js";
import { UsageError } from "../bench.js";

/** A pool that is measured; started by `open`, stopped when its rows are complete. */
export interface PoolSource {
  readonly name: string;
  open(): Promise<OpenPool>;
}

export interface OpenPool {
  readonly pool: PoolAddress;
  /** The same pool on an old host, which answers JSON in XML-RPC; undefined: only simulated pools have one. */
  readonly legacy: PoolAddress | undefined;
  close(): Promise<void>;
}

/** A simulated pool of a profile, and a second one with the same objects that answers JSON in XML-RPC. */
export function simulatedPool(profile: string): PoolSource {
  return {
    name: profile,
    async open() {
      const modern = await startSimulator(["--pool", profile]);
      const legacy = await startSimulator(["--pool", profile, "--legacy-json"]);
      return {
        pool: modern.pools[0]!,
        legacy: legacy.pools[0],
        async close() {
          await Promise.all([modern.stop(), legacy.stop()]);
        },
      };
    },
  };
}

/**
 * An existing pool; the environment has its credentials.
 * @throws UsageError if XO_BENCH_USER or XO_BENCH_PASSWORD is not set
 */
export function existingPool(url: string): PoolSource {
  const user = process.env["XO_BENCH_USER"];
  const password = process.env["XO_BENCH_PASSWORD"];
  if (user === undefined || password === undefined)
    throw new UsageError(
      "--url needs the environment variables XO_BENCH_USER and XO_BENCH_PASSWORD",
    );
  const name = new URL(url).host;
  return {
    name,
    async open() {
      return {
        pool: { name, url, user, password },
        legacy: undefined,
        close: () => Promise.resolve(),
      };
    },
  };
}
