import { setImmediate as nextTurn } from "node:timers/promises";
import { XoError } from "@xo-server/model";
import { eachOf } from "../hosts/guests.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { undoAfter } from "../operations/undo.js";
import type { TaskContext } from "../tasks/task-context.js";

/**
 * Key of the SR's other_config, shared with Xen Orchestra, by which clients see
 * that the SR is in maintenance mode.
 */
const KEY = "xo:maintenanceState";

/** The VMs shut down and the PBDs unplugged for the maintenance. JSON. */
interface Taken {
  /** Ids of VMs. */
  readonly shutdownVms: readonly string[];
  /** Ids of PBDs. */
  readonly unpluggedPbds: readonly string[];
}

interface MaintenanceParts {
  readonly objects: PoolObjects;
  readonly work: TaskContext;
}

/**
 * Puts an SR into maintenance mode: shuts down the VMs that use it, and
 * unplugs its PBDs. A failure restores everything.
 * @param mayShutDown ids of the VMs that may be shut down
 * @throws XoError INCORRECT_STATE: other VMs use it, or HA does; LEFT_BEHIND;
 * XapiError
 */
export async function enterSrMaintenance(
  sr: PoolObject,
  mayShutDown: readonly string[],
  parts: MaintenanceParts,
): Promise<void> {
  const { objects } = parts;
  const { haSrs } = objects.get(String(sr.object["$pool"]), "pool").object;
  if ((haSrs as readonly string[]).includes(sr.id))
    throw wrong(sr, "use by HA", true, false);
  const users = await usersOf(sr, objects);
  const others = users.filter((id) => !mayShutDown.includes(id));
  if (others.length > 0)
    throw wrong(sr, "VMs that use it", others, "none but vmsToShutdown");
  const pbds = (sr.object["$PBDs"] as readonly string[]).filter(
    (id) => objects.get(id, "PBD").object["attached"] === true,
  );
  const before = readTaken(sr);
  const taken = {
    shutdownVms: merge(before?.shutdownVms, users),
    unpluggedPbds: merge(before?.unpluggedPbds, pbds),
  };
  await write(sr, taken);
  try {
    await call(objects, users, ["VM", "VM.clean_shutdown"]);
    await call(objects, pbds, ["PBD", "PBD.unplug"]);
  } catch (error) {
    throw await undoAfter(error, [
      {
        left: `SR ${sr.id} (in maintenance)`,
        run: () => restore(sr, taken, parts),
      },
    ]);
  }
}

/**
 * Ends the maintenance mode of an SR: plugs the PBDs and starts the VMs that were
 * shut down. If a VM does not start, the task gets a warning.
 * @throws XoError INCORRECT_STATE: the SR is not in maintenance mode; XapiError
 */
export async function exitSrMaintenance(
  sr: PoolObject,
  parts: MaintenanceParts,
): Promise<void> {
  const taken = readTaken(sr);
  if (taken === undefined) throw wrong(sr, "inMaintenanceMode", false, true);
  await restore(sr, taken, parts);
}

async function restore(
  sr: PoolObject,
  { unpluggedPbds, shutdownVms }: Taken,
  { objects, work }: MaintenanceParts,
): Promise<void> {
  await eachOf(unpluggedPbds, async (id) => {
    const { xapi, ref } = objects.get(id, "PBD");
    if ((await xapi.call("PBD.get_currently_attached", [ref])) !== true)
      await xapi.callAsync("PBD.plug", [ref]);
  });
  await eachOf(shutdownVms, async (id) => {
    try {
      const { xapi, ref } = objects.get(id, "VM");
      if ((await xapi.call("VM.get_power_state", [ref])) === "Halted")
        await xapi.callAsync("VM.start", [ref, false, false]);
    } catch (error) {
      const { message } = error as Error;
      work.warn(`${id} does not start again: ${message}`, { vm: id });
    }
  });
  await write(sr, undefined);
}

/** Ids of VMs whose disks on the SR are in use. */
async function usersOf(
  sr: PoolObject,
  objects: PoolObjects,
): Promise<string[]> {
  const users = new Set<string>();
  for (const [index, id] of (sr.object["VDIs"] as string[]).entries()) {
    // An SR may have thousands of disks.
    if (index % A_TURN === A_TURN - 1) await nextTurn();
    const { $VBDs } = objects.get(id).object;
    for (const vbd of $VBDs as readonly string[]) {
      const { attached, VM } = objects.get(vbd, "VBD").object;
      if (attached === true) users.add(String(VM));
    }
  }
  return [...users];
}

const A_TURN = 20;

async function call(
  objects: PoolObjects,
  ids: readonly string[],
  [type, method]: readonly [string, string],
): Promise<void> {
  await eachOf(ids, async (id) => {
    const { xapi, ref } = objects.get(id, type);
    await xapi.callAsync(method, [ref]);
  });
}

function merge(
  before: readonly string[] = [],
  now: readonly string[],
): readonly string[] {
  return [...new Set([...before, ...now])];
}

async function write(
  { xapi, ref }: PoolObject,
  taken: Taken | undefined,
): Promise<void> {
  await xapi.call("SR.remove_from_other_config", [ref, KEY]);
  if (taken === undefined) return;
  const value = JSON.stringify(taken);
  await xapi.call("SR.add_to_other_config", [ref, KEY, value]);
}

/**
 * Reads what was shut down and unplugged. Xen Orchestra may have written another
 * format: then only known ids are restored, and all hosts are connected.
 */
function readTaken({ object }: PoolObject): Taken | undefined {
  const config = object["other_config"] as Readonly<Record<string, string>>;
  if (!Object.hasOwn(config, KEY)) return undefined;
  const { shutdownVms, unpluggedPbds } = parse(config[KEY]!);
  return {
    shutdownVms: toIds(shutdownVms) ?? [],
    unpluggedPbds: toIds(unpluggedPbds) ?? (object["$PBDs"] as string[]),
  };
}

function parse(text: string): Partial<Record<keyof Taken, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    // Another client has written an unknown format.
    return {};
  }
}

function toIds(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((id) => typeof id === "string");
}

function wrong(
  { id }: PoolObject,
  property: string,
  actual: unknown,
  expected: unknown,
): XoError {
  const data = { object: id, property, actual, expected };
  return new XoError("INCORRECT_STATE", data);
}
