import type { Ref } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import { idOfMade } from "../definition/on-object.js";

export interface NewSr {
  /** Id of the host to create it on; for shared storage any host that can access it. */
  readonly host: string;
  readonly name_label: string;
  readonly name_description: string;
  readonly type: string;
  /** Default `user`. */
  readonly content_type?: string;
  readonly shared: boolean;
  /** Parameters of the storage driver; undefined entries are left out. */
  readonly device: Readonly<Record<string, string | number | undefined>>;
  readonly sm_config?: Readonly<Record<string, string>>;
  /** Size in bytes; default: all available space. */
  readonly physicalSize?: number;
  /** UUID of an existing SR, which is introduced instead of being created. */
  readonly uuid?: string | undefined;
}

/**
 * Creates or introduces an SR.
 * @returns its id
 */
export async function createSr(
  objects: PoolObjects,
  sr: NewSr,
): Promise<string> {
  const host = objects.get(sr.host, "host");
  const device = toTexts(sr.device);
  const ref =
    sr.uuid === undefined
      ? await create(host, sr, device)
      : await takeBack(objects, host, { ...sr, uuid: sr.uuid, device });
  return idOfMade(objects, host.xapi, { type: "SR", ref });
}

type Texts = Readonly<Record<string, string>>;

function toTexts(values: NewSr["device"]): Texts {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, String(value)]),
  );
}

function create(
  { xapi, ref }: PoolObject,
  sr: NewSr,
  device: Texts,
): Promise<unknown> {
  const { name_label, name_description, type, content_type = "user" } = sr;
  return xapi.callAsync("SR.create", [
    ref,
    device,
    String(sr.physicalSize ?? 0),
    name_label,
    name_description,
    type,
    content_type,
    sr.shared,
    sr.sm_config ?? {},
  ]);
}

/**
 * Introduces an SR and connects it to all hosts of the pool. If that fails, it is
 * forgotten again.
 */
async function takeBack(
  objects: PoolObjects,
  host: PoolObject,
  sr: NewSr & { readonly uuid: string; readonly device: Texts },
): Promise<unknown> {
  const { xapi } = host;
  const { uuid, name_label, name_description, type, device } = sr;
  const ref = (await xapi.call("SR.introduce", [
    uuid,
    name_label,
    name_description,
    type,
    sr.content_type ?? "user",
    sr.shared,
    sr.sm_config ?? {},
  ])) as Ref;
  try {
    const hosts = sr.shared
      ? ((await xapi.call("host.get_all")) as readonly Ref[])
      : [host.ref];
    for (const one of hosts) {
      const record = { host: one, SR: ref, device_config: device };
      const pbd = await xapi.call("PBD.create", [record]);
      await xapi.callAsync("PBD.plug", [pbd]);
    }
  } catch (error) {
    await undo(xapi, ref);
    throw error;
  }
  return ref;
}

async function undo(xapi: PoolObject["xapi"], ref: Ref): Promise<void> {
  const ignore = () => undefined;
  // Without readable PBDs the SR is still forgotten below.
  const pbds = await xapi.call("SR.get_PBDs", [ref]).catch(() => []);
  for (const pbd of pbds as readonly Ref[])
    await xapi.callAsync("PBD.unplug", [pbd]).catch(ignore);
  await xapi.callAsync("SR.forget", [ref]).catch(ignore);
}
