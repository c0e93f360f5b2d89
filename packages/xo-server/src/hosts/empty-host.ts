import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { refuseStuck, stuckOn } from "./stuck-vms.js";

export interface EmptyOptions {
  /** Leave the guests where they are. */
  readonly bypassEvacuate?: boolean;
  /** Go on although not every guest could be moved: what comes next tells whether it needed to. */
  readonly force?: boolean;
  /** The network by which guests go; absent: that of management. */
  readonly network?: PoolObject | undefined;
}

/** Moves the guests of a host to others, as many at a time as XAPI thinks right. */
export async function evacuate(
  { xapi, ref }: PoolObject,
  network?: PoolObject,
): Promise<void> {
  // Older hosts do not know the parameter.
  const by = network === undefined ? [] : [network.ref];
  await xapi.callAsync("host.evacuate", [ref, ...by]);
}

/**
 * The same, unless there is one that cannot leave: then nothing is done.
 * @throws XoError VMS_CANNOT_LEAVE; what the pool refused
 */
export async function evacuateAll(
  host: PoolObject,
  objects: PoolObjects,
  network?: PoolObject,
): Promise<void> {
  refuseStuck(await stuckOn(host, objects));
  await evacuate(host, network);
}

/**
 * Does something to a host that takes no guests and has none. If that fails,
 * it takes guests again, where it did before.
 * @throws XoError VMS_CANNOT_LEAVE: nothing was done; what the pool refused
 */
export async function whileEmpty<T>(
  host: PoolObject,
  objects: PoolObjects,
  { bypassEvacuate = false, force = false, network }: EmptyOptions,
  run: () => Promise<T>,
): Promise<T> {
  const { xapi, ref, object } = host;
  if (!bypassEvacuate && !force) refuseStuck(await stuckOn(host, objects));
  await xapi.call("host.disable", [ref]);
  try {
    if (!bypassEvacuate)
      await evacuate(host, network).catch((error: unknown) => {
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
