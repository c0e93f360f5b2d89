import type { WallClock } from "@xo-server/kit";
import type { Inventory, Queries } from "@xo-server/inventory";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { PoolSummary } from "../status/status.js";
import type { MissingPatches } from "./missing-patches.js";
import { HostVersions } from "./host-versions.js";

/** Interval of the queries, in ms: updates are published a few times a month. */
const INTERVAL_MS = 6 * 60 * 60_000;
/** Delay after the start of the server, in ms, because requests of clients have priority. */
const FIRST_MS = 15 * 60_000;

interface PatchWatchParts {
  readonly patches: MissingPatches;
  readonly queries: Pick<Queries, "page">;
  readonly objects: Pick<PoolObjects, "get">;
  readonly inventory: Pick<Inventory, "list" | "peek" | "runInSlices">;
  readonly listPools: () => readonly PoolSummary[];
  readonly clock: WallClock;
}

/** Queries all hosts for missing updates a few times a day, one after another, so that alarms know them. */
export class PatchWatch {
  readonly #parts: PatchWatchParts;
  readonly #versions: HostVersions;
  #timer: unknown;
  #isStopped = false;

  constructor(parts: PatchWatchParts) {
    this.#parts = parts;
    this.#versions = new HostVersions(parts.inventory);
  }

  start(): void {
    this.#sleep(FIRST_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
  }

  /** Number of hosts that are known to miss updates. */
  hostsWithPatches(): number {
    return this.#parts.patches.hostsWithPatches().length;
  }

  /** Number of connected pools whose hosts run different versions. */
  poolsWithDifferentVersions(): Promise<number> {
    const connected = this.#parts
      .listPools()
      .filter(({ state }) => state === "watching");
    return this.#versions.countDifferent(connected.map(({ id }) => id));
  }

  /** Queries each running host. Never rejects. */
  async check(): Promise<void> {
    const { queries, objects, patches } = this.#parts;
    const filter = "power_state:Running";
    const { ids } = await queries.page({ type: "host", filter });
    for (const id of ids) {
      if (this.#isStopped) return;
      try {
        await patches.of(objects.get(id, "host"));
      } catch {
        // The host is queried again the next time; its page shows the error.
      }
    }
    const { ids: all } = await queries.page({ type: "host", filter: "" });
    patches.keepOnly(new Set(all));
  }

  #sleep(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = this.#parts.clock.setTimeout(() => {
      void this.check()
        // The catalog is being stopped.
        .catch(() => undefined)
        .then(() => {
          this.#sleep(INTERVAL_MS);
        });
    }, ms);
  }
}
