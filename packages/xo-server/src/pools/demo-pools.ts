import { XoError } from "@xo-server/model";
import type { Demo, DemoPool, StartDemoPools } from "./demo.js";
import type { Logger } from "../log/logger.js";
import { toDemoSettings } from "./pool-settings.js";
import type { Pools } from "./pools.js";

/** `unavailable`: the program was started without the simulator. */
export const demoStates = ["unavailable", "closed", "opening", "open"] as const;
type DemoState = (typeof demoStates)[number];

interface DemoPoolsOptions {
  readonly startDemoPools?: StartDemoPools | undefined;
  readonly pools: Pick<Pools, "connect" | "disconnect" | "listSummaries">;
  readonly logger: Logger;
  /** Aborted when the server stops. */
  readonly signal?: AbortSignal | undefined;
}

/** Simulated pools, requested on the command line or the page. They are not persisted. */
export class DemoPools {
  readonly #options: DemoPoolsOptions;
  #running: Demo | undefined;
  #ids: readonly string[] = [];
  #state: DemoState;

  constructor(options: DemoPoolsOptions) {
    this.#options = options;
    this.#state =
      options.startDemoPools === undefined ? "unavailable" : "closed";
  }

  get state(): DemoState {
    return this.#state;
  }

  /** Whether the id is that of a simulated pool. */
  has(id: string): boolean {
    return this.#ids.includes(id);
  }

  /**
   * @param profiles of simulated pools, such as `C`
   * @returns the ids of the pools, which are being connected then
   * @throws XoError UNSUPPORTED, ABORTED, ALREADY_EXISTS
   */
  async open(profiles: readonly string[]): Promise<readonly string[]> {
    const { startDemoPools, pools, logger } = this.#options;
    if (startDemoPools === undefined)
      throw unavailable("there is no simulator here");
    if (this.#running !== undefined)
      throw new XoError("ALREADY_EXISTS", { type: "the demo" });
    logger.info(`Starting simulated pools ${profiles.join(", ")}`);
    const running = startDemoPools(profiles);
    this.#running = running;
    this.#state = "opening";
    try {
      const taken = new Set(pools.listSummaries().map(({ id }) => id));
      const settings = toDemoSettings(await this.#ready(running), taken);
      this.#ids = settings.map(({ id }) => id);
      pools.connect(settings);
      this.#state = "open";
      return this.#ids;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /**
   * Stops the simulator and removes the objects of its pools.
   * @returns false: there were no simulated pools
   */
  async close(): Promise<boolean> {
    const running = this.#running;
    if (running === undefined) return false;
    const ids = this.#ids;
    this.#ids = [];
    for (const id of ids) await this.#options.pools.disconnect(id);
    await running.stop();
    this.#running = undefined;
    this.#state = "closed";
    return true;
  }

  /** Stops the simulator when the server stops, after its pools were disconnected. */
  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  /** @throws XoError UNSUPPORTED, ABORTED */
  async #ready(running: Demo): Promise<readonly DemoPool[]> {
    const { signal } = this.#options;
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
}

function unavailable(reason: string, cause?: unknown): XoError {
  return new XoError("UNSUPPORTED", { what: "the demo", reason }, cause);
}
