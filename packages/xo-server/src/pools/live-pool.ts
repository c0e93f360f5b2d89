import type { WallClock } from "@xo-server/kit";
import type { Inventory, PoolHandle } from "@xo-server/inventory";
import type { Xapi } from "@xo-server/xen-api";
import { toErrorSummary } from "../status/error-summary.js";
import type { Logger } from "../log/logger.js";
import type { PoolConflicts } from "./pool-conflicts.js";
import type { PoolSettings } from "./pool-settings.js";
import { toPoolState } from "./pool-state.js";
import type { LivePool } from "./pools.js";
import type { PoolState, PoolStatus, PoolSummary } from "../status/status.js";

interface XapiPoolOptions {
  readonly settings: PoolSettings;
  readonly xapi: Xapi;
  readonly inventory: Inventory;
  readonly conflicts: PoolConflicts;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** Result of the first load. */
interface Load {
  readonly ms: number;
  readonly bytes: number;
}

/** A XAPI session and its mirror, with their common status. */
export class XapiPool implements LivePool {
  readonly #options: XapiPoolOptions;
  readonly #mirror: PoolHandle;
  readonly #leave: readonly (() => void)[];
  readonly #startedAt: number;
  #state: PoolState = "connecting";
  #since: number;
  #load: Load | undefined;
  #uuid: string | undefined;
  #isStopping = false;

  constructor(options: XapiPoolOptions) {
    const { clock, xapi, inventory, settings } = options;
    const { id, label } = settings;
    this.#options = options;
    this.#since = this.#startedAt = clock.now();
    this.#mirror = inventory.addPool(id, xapi, { label });
    this.#leave = [
      xapi.onState(() => {
        this.#update();
      }),
      inventory.onMirrorStatus((changed) => {
        if (changed === id) this.#update();
      }),
    ];
    void this.#connect();
  }

  get xapi(): Xapi {
    return this.#options.xapi;
  }

  summary(): PoolSummary {
    const { settings, xapi } = this.#options;
    const { state } = xapi;
    const failure = "cause" in state ? state.cause : undefined;
    const error = failure ?? this.#mirror.lastError;
    return {
      id: settings.id,
      label: settings.label,
      state: this.#state,
      error: error === undefined ? null : toErrorSummary(error),
      loadMs: this.#load?.ms ?? null,
    };
  }

  status(): PoolStatus {
    const { settings, xapi, conflicts } = this.#options;
    const { state } = xapi;
    const warnings = conflicts.warningsOf(settings.id);
    const mirror = this.#mirror.status();
    return {
      ...this.summary(),
      pool: this.#poolUuid() ?? null,
      address: "address" in state ? state.address : settings.hosts[0]!,
      since: toIso(this.#since),
      staleSince: toIsoOrNull(mirror.staleSince),
      ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
      transport: "transport" in state ? state.transport : null,
      ...("via" in state && { via: state.via }),
      objects: mirror.objects,
      counts: withoutZeros(mirror.counts),
      changesPerSecond: Math.round(mirror.changesPerSecond * 10) / 10,
      lastChangeAt: toIsoOrNull(mirror.lastChangeAt),
      loadBytes: this.#load?.bytes ?? null,
      revision: mirror.revision,
    };
  }

  async stop(): Promise<void> {
    const { xapi, logger, conflicts, settings } = this.#options;
    this.#isStopping = true;
    conflicts.remove(settings.id);
    const wasConnected = xapi.state.name === "connected";
    await Promise.all([xapi.disconnect(), this.#mirror.stop()]);
    for (const leave of this.#leave) leave();
    if (wasConnected) logger.info(`${xapi.label}: disconnected`);
  }

  /** Never rejects: the client retries; the failure of the first attempt is in its state. */
  async #connect(): Promise<void> {
    const { xapi, logger } = this.#options;
    await this.#mirror.mayConnect;
    if (this.#isStopping) return;
    try {
      await xapi.connect();
    } catch (error) {
      logger.debug(`${xapi.label}: ${(error as Error).message}`);
    }
  }

  /** A connection belongs to one pool, so the UUID is read once. */
  #poolUuid(): string | undefined {
    if (this.#uuid !== undefined) return this.#uuid;
    const { settings, inventory } = this.#options;
    for (const { uuid } of inventory.list("pool", { poolId: settings.id }))
      return (this.#uuid = uuid);
    return undefined;
  }

  #update(): void {
    const { xapi, clock, logger, conflicts, settings } = this.#options;
    const { state } = xapi;
    // After `stop` the connection must not be registered again.
    if (state.name !== "stopped")
      conflicts.update(
        settings,
        "pool" in state ? state.pool.uuid : undefined,
        this.#mirror.state === "watching",
      );
    const next = toPoolState(
      xapi.state,
      this.#mirror.state,
      this.#load !== undefined,
    );
    if (next === this.#state) return;
    this.#state = next;
    this.#since = clock.now();
    if (next === "failed" && xapi.state.name === "backing-off")
      logger.error(
        `${xapi.label}: ${toErrorSummary(xapi.state.cause).message}; an administrator must correct this`,
      );
    if (next === "watching")
      this.#load ??= {
        ms: this.#since - this.#startedAt,
        bytes: xapi.counters.bytesReceived,
      };
  }
}

function toIso(time: number): string {
  return new Date(time).toISOString();
}

function toIsoOrNull(time: number | undefined): string | null {
  return time === undefined ? null : toIso(time);
}

/** Leaves out classes without objects, because most pools have no objects of most classes. */
function withoutZeros(
  counts: ReadonlyMap<string, number>,
): Record<string, number> {
  return Object.fromEntries([...counts].filter(([, count]) => count > 0));
}
