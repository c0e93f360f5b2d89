import { XoError } from "@xo-server/model";
import type { DemoPool } from "../demo.js";
import type { ServerOptions } from "../server-options.js";
import type { StopStack } from "../stop-stack.js";
import { toDemoSettings, toPoolSettings } from "./pool-settings.js";
import type { Pools } from "./pools.js";

/** Only starts it: a pool that cannot be reached does not keep the server from being up. */
export async function connectPools(
  pools: Pools,
  options: ServerOptions,
  stops: StopStack,
): Promise<void> {
  const settings =
    options.demo === undefined
      ? toPoolSettings(options.config.pools)
      : toDemoSettings(await startDemo(options, stops));
  stops.push("pools", () => pools.stop());
  pools.connect(settings);
}

/** @throws XoError UNSUPPORTED, ABORTED */
async function startDemo(
  { demo = [], startDemoPools, signal, loggers }: ServerOptions,
  stops: StopStack,
): Promise<readonly DemoPool[]> {
  const unavailable = (reason: string, cause?: unknown) =>
    new XoError("UNSUPPORTED", { what: "the demo", reason }, cause);
  if (startDemoPools === undefined)
    throw unavailable("there is no simulator here");
  loggers.named("xo:main").info(`Starting simulated pools ${demo.join(", ")}`);
  const running = startDemoPools(demo);
  stops.push("demo", async () => void (await running.stop()));
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => {
      reject(new XoError("ABORTED", { what: "the start of the demo" }));
    });
  });
  try {
    return await Promise.race([running.ready, aborted]);
  } catch (error) {
    throw error instanceof XoError
      ? error
      : unavailable((error as Error).message, error);
  }
}
