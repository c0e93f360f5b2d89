import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { toErrorSummary, type ErrorSummary } from "../status/error-summary.js";
import type { Logger } from "../log/logger.js";
import { readPassword } from "./pool-password.js";
import type { PoolSettings } from "./pool-settings.js";
import { StartingPools } from "./starting-pools.js";
import type { PoolState, PoolStatus, PoolSummary } from "../status/status.js";

/** A pool that is connected or being connected. */
export interface LivePool {
  /** The client for calls; absent: the pool is read-only. */
  readonly xapi?: Xapi;
  status(): PoolStatus;
  summary(): PoolSummary;
  /** Logs out, within a few seconds even if the pool does not respond. */
  stop(): Promise<void>;
}

/** Creates a pool. Errors after it has resolved are part of the status of the pool. */
export type CreatePool = (settings: PoolSettings) => Promise<LivePool>;

interface PoolsOptions {
  readonly createPool: CreatePool;
  /** Removes the mirrored records of a pool that was disconnected. */
  readonly forgetPool?: (id: string) => Promise<void>;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** All pools. A failing pool does not affect the others. */
export interface Pools {
  /** Returns immediately. */
  connect(settings: readonly PoolSettings[]): void;
  /**
   * Disconnects the pool and removes its objects.
   * @returns false: it was not connected
   */
  disconnect(id: string): Promise<boolean>;
  /** Resolves when all pools connected so far have been created, or have failed. */
  created(): Promise<void>;
  /**
   * Ends the start of the server: pools that are connected from now on are not listed
   * by `listOfStart`.
   */
  endStart(): void;
  list(): PoolStatus[];
  /** The pools that were connected during the start of the server, and not again since. */
  listOfStart(): PoolSummary[];
  /** Summaries for checks every second; a full status would count the objects of each class. */
  listSummaries(): PoolSummary[];
  /**
   * Waits for pools whose objects are known from the snapshot cache, and that the server has not begun to connect yet: at
   * most 5 s. A call that comes then is not refused with NOT_CONNECTED.
   * @returns undefined: none of them has to be waited for
   */
  untilConnecting(ids: () => ReadonlySet<string>): Promise<void> | undefined;
  /** @throws XoError NOT_CONNECTED */
  xapi(id: string): Xapi;
  /** The credentials of the session. @throws XoError NOT_CONNECTED, CONFIG_INVALID */
  credentials(id: string): Promise<XapiCredentials>;
  stop(): Promise<void>;
}

/** A secret that may only be sent to XAPI. */
interface XapiCredentials {
  readonly user: string;
  readonly password: string;
}

/**
 * Number of pools created per turn of the event loop: creating a client takes 0.5
 * ms, and connecting some more in the next turns, in which requests are served, too.
 */
const POOLS_A_TURN = 2;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Connects pools in groups, so that a start with many pools does not block the event loop. */
export function createPools(options: PoolsOptions): Pools {
  const slots: PoolSlot[] = [];
  const starting = new StartingPools(options.clock);
  let ofStart: ReadonlySet<PoolSlot> | undefined;
  return {
    connect(all) {
      let turn: Promise<void> | undefined;
      for (const [index, settings] of all.entries()) {
        if (index > 0 && index % POOLS_A_TURN === 0)
          turn = (turn ?? Promise.resolve()).then(nextTurn);
        const slot = new PoolSlot(settings, options, turn);
        slots.push(slot);
        starting.add(slot);
      }
    },
    async disconnect(id) {
      const at = slots.findIndex((slot) => slot.id === id);
      if (at < 0) return false;
      const [slot] = slots.splice(at, 1);
      await slot!.stop();
      await options.forgetPool?.(id);
      return true;
    },
    async created() {
      await Promise.all(slots.map((slot) => slot.created));
    },
    endStart() {
      ofStart = new Set(slots);
    },
    list: () => slots.map((slot) => slot.status()),
    listOfStart: () =>
      slots
        .filter((slot) => ofStart?.has(slot) ?? true)
        .map((slot) => slot.summary()),
    listSummaries: () => slots.map((slot) => slot.summary()),
    untilConnecting: (ids) => starting.untilConnecting(ids),
    xapi(id) {
      const xapi = slots.find((slot) => slot.id === id)?.xapi;
      if (xapi === undefined) throw new XoError("NOT_CONNECTED", { pool: id });
      return xapi;
    },
    async credentials(id) {
      const slot = slots.find((one) => one.id === id);
      if (slot === undefined) throw new XoError("NOT_CONNECTED", { pool: id });
      return slot.credentials();
    },
    stop: async () =>
      void (await Promise.all(slots.map((slot) => slot.stop()))),
  };
}

/** A pool connection: being created, created, or failed. */
class PoolSlot {
  readonly #settings: PoolSettings;
  readonly #options: PoolsOptions;
  readonly #made: Promise<LivePool | undefined>;
  readonly #named: number;
  #pool: LivePool | undefined;
  #error: ErrorSummary | null = null;

  /** @param turn resolves when the pool may be created; absent: immediately */
  constructor(
    settings: PoolSettings,
    options: PoolsOptions,
    turn?: Promise<void>,
  ) {
    this.#settings = settings;
    this.#options = options;
    this.#named = options.clock.now();
    this.#made =
      turn === undefined ? this.#make() : turn.then(() => this.#make());
  }

  get id(): string {
    return this.#settings.id;
  }

  /** Also resolves if the pool could not be created. */
  get created(): Promise<unknown> {
    return this.#made;
  }

  get xapi(): Xapi | undefined {
    return this.#pool?.xapi;
  }

  async credentials(): Promise<XapiCredentials> {
    const { user } = this.#settings;
    return { user, password: await readPassword(this.#settings) };
  }

  status(): PoolStatus {
    return (
      this.#pool?.status() ??
      statusOfUnmade(this.#settings, this.#named, this.#error)
    );
  }

  summary(): PoolSummary {
    const { id, label } = this.#settings;
    const error = this.#error;
    return (
      this.#pool?.summary() ?? {
        id,
        label,
        state: stateOfUnmade(error),
        error,
        loadMs: null,
      }
    );
  }

  async stop(): Promise<void> {
    try {
      await (await this.#made)?.stop();
    } catch (error) {
      const { label } = this.#settings;
      this.#options.logger.warn(`${label} did not disconnect cleanly`, {
        error,
      });
    }
  }

  async #make(): Promise<LivePool | undefined> {
    const { createPool, logger } = this.#options;
    try {
      this.#pool = await createPool(this.#settings);
    } catch (error) {
      this.#error = toErrorSummary(error);
      logger.error(`${this.#settings.label}: ${this.#error.message}`);
    }
    return this.#pool;
  }
}

function statusOfUnmade(
  { id, label, hosts }: PoolSettings,
  since: number,
  error: ErrorSummary | null,
): PoolStatus {
  return {
    id,
    label,
    pool: null,
    state: stateOfUnmade(error),
    error,
    address: hosts[0]!,
    since: new Date(since).toISOString(),
    staleSince: null,
    transport: null,
    objects: 0,
    counts: {},
    changesPerSecond: 0,
    lastChangeAt: null,
    loadMs: null,
    loadBytes: null,
    revision: 0,
  };
}

function stateOfUnmade(error: ErrorSummary | null): PoolState {
  return error === null ? "connecting" : "failed";
}
