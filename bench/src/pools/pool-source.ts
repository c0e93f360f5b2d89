import { startSimulator, type PoolAddress } from "../harness/simulator.js";
import { UsageError } from "../bench.js";

/** One pool to be measured, for as long as its rows take. */
export interface PoolSource {
  readonly name: string;
  open(): Promise<OpenPool>;
}

export interface OpenPool {
  readonly pool: PoolAddress;
  /** The same pool as a host of old times; undefined where there is none. */
  readonly legacy: PoolAddress | undefined;
  close(): Promise<void>;
}

/** A simulated pool of a profile, and its twin that answers JSON in XML. */
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

/** A pool that is there already; its credentials come from the environment. */
export function givenPool(url: string): PoolSource {
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
