import type { WallClock } from "@xo-server/kit";
import type { Xapi } from "@xo-server/xen-api";

/** A call waits this time for its pools, in ms. */
const MAX_WAIT_MS = 5_000;

interface StartingPool {
  readonly id: string;
  /** Resolves when `xapi` is known, or the pool could not be created. */
  readonly created: Promise<unknown>;
  readonly xapi: Pick<Xapi, "state" | "onState"> | undefined;
}

/** Pools that the server has not begun to connect yet: it reads their snapshots, or gets copies of other servers. */
export class StartingPools {
  readonly #clock: Pick<WallClock, "setTimeout" | "clearTimeout">;
  readonly #pools = new Map<string, Promise<void>>();

  constructor(clock: Pick<WallClock, "setTimeout" | "clearTimeout">) {
    this.#clock = clock;
  }

  add(pool: StartingPool): void {
    const begun = hasBegun(pool).then(() => {
      if (this.#pools.get(pool.id) === begun) this.#pools.delete(pool.id);
    });
    this.#pools.set(pool.id, begun);
  }

  /** See Pools. @param ids is called only while pools are starting */
  untilConnecting(ids: () => ReadonlySet<string>): Promise<void> | undefined {
    if (this.#pools.size === 0) return undefined;
    const awaited = [...ids()].flatMap((id) => this.#pools.get(id) ?? []);
    return awaited.length === 0 ? undefined : this.#limited(awaited);
  }

  async #limited(awaited: readonly Promise<void>[]): Promise<void> {
    let timer: unknown;
    const limit = new Promise<void>((resolve) => {
      timer = this.#clock.setTimeout(resolve, MAX_WAIT_MS);
    });
    await Promise.race([Promise.all(awaited), limit]);
    this.#clock.clearTimeout(timer);
  }
}

/** Resolves when calls to the pool wait for its session by themselves, or it has failed. */
async function hasBegun(pool: StartingPool): Promise<void> {
  await pool.created;
  const { xapi } = pool;
  if (xapi?.state.name !== "disconnected") return;
  await new Promise<void>((resolve) => {
    const stop = xapi.onState(({ name }) => {
      if (name === "disconnected") return;
      stop();
      resolve();
    });
  });
}
