import { XoError } from "@xo-server/model";
import { isUnknownObject } from "../../objects/no-such-object.js";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { CreateParameters } from "./create-parameters.js";

const TYPE = "VM-template";

/**
 * Finds a template by its id or UUID. A default template has the same UUID in every
 * pool; the pool, or another object in the call, determines which one is meant.
 * @throws XoError NO_SUCH_OBJECT, OBJECTS_LOADING
 */
export function findTemplate(
  input: CreateParameters,
  objects: PoolObjects,
): PoolObject {
  const { template: id, pool } = input;
  const found =
    tryGet(objects, id) ??
    poolsNamed(input, objects)
      .map((one) => tryGet(objects, `${one}-${id}`))
      .find((one) => one !== undefined) ??
    objects.get(id, TYPE);
  if ((pool ?? found.object["$pool"]) !== poolOf(found))
    throw new XoError("NO_SUCH_OBJECT", { type: TYPE, id });
  return found;
}

function poolOf({ object }: PoolObject): unknown {
  return object["$pool"];
}

function tryGet(objects: PoolObjects, id: string): PoolObject | undefined {
  try {
    return objects.get(id, TYPE);
  } catch (error) {
    if (isUnknownObject(error)) return undefined;
    throw error;
  }
}

function poolsNamed(
  { pool, VDIs = [], VIFs = [], affinityHost }: CreateParameters,
  objects: PoolObjects,
): string[] {
  if (pool !== undefined) return [pool];
  const named = [
    ...VDIs.map(({ SR, $SR, sr }) => SR ?? $SR ?? sr),
    ...VIFs.map(({ network }) => network),
    affinityHost ?? undefined,
  ].find((id) => id !== undefined);
  return named === undefined
    ? []
    : [String(objects.get(named).object["$pool"])];
}

/** Sizes of the template's disks in bytes, by position. */
export function readDiskSizes(
  { object }: PoolObject,
  objects: PoolObjects,
): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const id of object["$VBDs"] as readonly string[]) {
    const vbd = objects.get(id, "VBD").object;
    if (vbd["is_cd_drive"] === true || typeof vbd["VDI"] !== "string") continue;
    const vdi = objects.get(vbd["VDI"]).object;
    sizes.set(String(vbd["position"]), Number(vdi["size"]));
  }
  return sizes;
}
