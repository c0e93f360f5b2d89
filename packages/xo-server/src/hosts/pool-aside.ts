import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

/** What a pool does by itself, and must not while its hosts go down one by one. JSON. */
export interface Aside {
  readonly autoPoweron?: true;
  readonly ha?: {
    /** Ids of SRs through which hosts see each other. */
    readonly srs: readonly string[];
    readonly configuration: Readonly<Record<string, string>>;
  };
}

/** What there is to put aside. */
export async function findAside({
  xapi,
  ref,
  object,
}: PoolObject): Promise<Aside> {
  const autoPoweron = object["auto_poweron"] === true;
  const hasHa = object["HA_enabled"] === true;
  const configuration = hasHa
    ? await xapi.call("pool.get_ha_configuration", [ref])
    : {};
  return {
    ...(autoPoweron ? { autoPoweron } : {}),
    ...(hasHa
      ? {
          ha: {
            srs: object["haSrs"] as readonly string[],
            configuration: configuration as Record<string, string>,
          },
        }
      : {}),
  };
}

export async function putAside(
  { xapi, ref, object }: PoolObject,
  { autoPoweron, ha }: Aside,
): Promise<void> {
  if (autoPoweron === true)
    await xapi.call("pool.remove_from_other_config", [ref, "auto_poweron"]);
  if (ha !== undefined && object["HA_enabled"] === true)
    await xapi.callAsync("pool.disable_ha", []);
}

/** @param pool as it is now: what is so already is passed over */
export async function putBack(
  { xapi, ref, object }: PoolObject,
  { autoPoweron, ha }: Aside,
  objects: PoolObjects,
): Promise<void> {
  if (autoPoweron === true) {
    const entry = [ref, "auto_poweron"];
    await xapi.call("pool.remove_from_other_config", entry);
    await xapi.call("pool.add_to_other_config", [...entry, "true"]);
  }
  if (ha !== undefined && object["HA_enabled"] !== true) {
    const srs = ha.srs.map((id) => objects.get(id, "SR").ref);
    await xapi.callAsync("pool.enable_ha", [srs, ha.configuration]);
  }
}
