import type { PoolObject } from "../objects/pool-objects.js";

export interface EmptyOptions {
  /** Leave the guests where they are. */
  readonly bypassEvacuate?: boolean;
  /** Go on although not every guest could be moved: what comes next tells whether it needed to. */
  readonly force?: boolean;
}

/** Moves the guests of a host to others. */
export async function evacuate({ xapi, ref }: PoolObject): Promise<void> {
  await xapi.callAsync("host.evacuate", [ref]);
}

/**
 * Does something to a host that takes no guests and has none. If that fails,
 * it takes guests again, where it did before.
 */
export async function whileEmpty<T>(
  host: PoolObject,
  { bypassEvacuate = false, force = false }: EmptyOptions,
  run: () => Promise<T>,
): Promise<T> {
  const { xapi, ref, object } = host;
  await xapi.call("host.disable", [ref]);
  try {
    if (!bypassEvacuate)
      await evacuate(host).catch((error: unknown) => {
        if (!force) throw error;
      });
    return await run();
  } catch (error) {
    if (object["enabled"] === true)
      // What went wrong first is what is told.
      await xapi.call("host.enable", [ref]).catch(() => undefined);
    throw error;
  }
}
