import type { Xapi } from "@xo-server/xen-api";
import type { Clock } from "./clock.js";
import { toErrorSummary } from "./error-summary.js";
import type { Logger } from "./logger.js";
import type { Mirror, MirrorListener } from "./mirror.js";
import type { PoolSettings } from "./pool-settings.js";
import { toPoolState } from "./pool-state.js";
import type { LivePool } from "./pools.js";
import { RateMeter } from "./rate-meter.js";
import type { PoolState, PoolStatus } from "./status.js";

export interface XapiPoolOptions {
  readonly settings: PoolSettings;
  readonly xapi: Xapi;
  readonly startMirror: (xapi: Xapi, listener: MirrorListener) => Mirror;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A session and a mirror, seen as one: what the status tells of them. */
export class XapiPool implements LivePool {
  readonly #options: XapiPoolOptions;
  readonly #xapi: Xapi;
  readonly #mirror: Mirror;
  readonly #rate: RateMeter;
  readonly #startedAt: number;
  #state: PoolState = "connecting";
  #since: number;
  #loadMs: number | null = null;
  #staleSince: number | null = null;
  #lastChangeAt: number | null = null;
  #error: unknown;

  constructor(options: XapiPoolOptions) {
    const { clock, xapi } = options;
    this.#options = options;
    this.#xapi = xapi;
    this.#since = this.#startedAt = clock.now();
    this.#rate = new RateMeter(() => clock.now());
    xapi.onState(() => {
      this.#update();
    });
    this.#mirror = options.startMirror(xapi, {
      onState: () => {
        this.#update();
      },
      onChanges: (count) => {
        this.#rate.add(count);
        if (count > 0) this.#lastChangeAt = clock.now();
      },
    });
    // It goes on trying by itself; that the first try failed shows in its state.
    xapi.connect().catch((error: unknown) => {
      options.logger.debug(`${xapi.label}: ${(error as Error).message}`);
    });
  }

  status(): PoolStatus {
    const { settings } = this.#options;
    const { state } = this.#xapi;
    const { counts, revision, loadBytes } = this.#mirror;
    return {
      id: settings.id,
      label: settings.label,
      address: "address" in state ? state.address : settings.hosts[0]!,
      state: this.#state,
      since: toIso(this.#since),
      staleSince: toIso(this.#staleSince),
      error: this.#error === undefined ? null : toErrorSummary(this.#error),
      transport: "transport" in state ? state.transport : null,
      objects: Object.values(counts).reduce((sum, count) => sum + count, 0),
      counts: withoutZeros(counts),
      changesPerSecond: this.#rate.perSecond(),
      lastChangeAt: toIso(this.#lastChangeAt),
      loadMs: this.#loadMs,
      loadBytes: this.#loadMs === null ? null : loadBytes,
      revision,
    };
  }

  async stop(): Promise<void> {
    const { logger } = this.#options;
    await Promise.all([this.#xapi.disconnect(), this.#mirror.stop()]);
    logger.info(`${this.#xapi.label}: disconnected`);
  }

  #update(): void {
    const session = this.#xapi.state;
    // Called by the mirror while it is being started, too.
    const mirror = (this.#mirror as Mirror | undefined)?.state ?? "waiting";
    if (session.name === "backing-off") this.#error = session.cause;
    if (mirror === "backing-off") this.#error = this.#mirror.error;
    const next = toPoolState(session, mirror, this.#loadMs !== null);
    if (next === this.#state) return;
    const now = this.#options.clock.now();
    this.#state = next;
    this.#since = now;
    if (next === "watching") this.#onWatching(now);
    else if (this.#loadMs !== null) this.#staleSince ??= now;
  }

  #onWatching(now: number): void {
    this.#error = undefined;
    this.#staleSince = null;
    this.#loadMs ??= now - this.#startedAt;
  }
}

function toIso(time: number): string;
function toIso(time: number | null): string | null;
function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** Most pools have nothing of most classes. */
function withoutZeros(
  counts: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).filter(([, count]) => count > 0),
  );
}
