import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

/**
 * Automatic settings of a pool (HA, auto power-on) that are disabled during a
 * rolling reboot. Stored as JSON.
 */
export interface SuspendedSettings {
  readonly autoPoweron?: true;
  readonly ha?: {
    /** Ids of the heartbeat SRs. */
    readonly srs: readonly string[];
    readonly configuration: Readonly<Record<string, string>>;
  };
}

/** Reads the settings to disable. */
export async function readAutomaticSettings(
  pool: PoolObject,
): Promise<SuspendedSettings> {
  const { xapi, ref, object } = pool;
  const autoPoweron = object["auto_poweron"] === true;
  const hasHa = await isHaEnabled(pool);
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

/**
 * Disables HA and automatic power-on for the time of an operation that reboots hosts.
 * @throws XapiError
 */
export async function suspendSettings(
  pool: PoolObject,
  { autoPoweron, ha }: SuspendedSettings,
): Promise<void> {
  const { xapi, ref } = pool;
  if (autoPoweron === true)
    await xapi.call("pool.remove_from_other_config", [ref, "auto_poweron"]);
  if (ha !== undefined && (await isHaEnabled(pool)))
    await xapi.callAsync("pool.disable_ha", []);
}

/** Read from XAPI, because the mirror may lag behind what this run has changed. */
async function isHaEnabled({ xapi, ref }: PoolObject): Promise<boolean> {
  return (await xapi.call("pool.get_ha_enabled", [ref])) === true;
}

/** Settings that are already restored are skipped. */
export async function restoreSettings(
  pool: PoolObject,
  { autoPoweron, ha }: SuspendedSettings,
  objects: PoolObjects,
): Promise<void> {
  const { xapi, ref } = pool;
  if (autoPoweron === true) {
    const entry = [ref, "auto_poweron"];
    await xapi.call("pool.remove_from_other_config", entry);
    await xapi.call("pool.add_to_other_config", [...entry, "true"]);
  }
  if (ha !== undefined && !(await isHaEnabled(pool))) {
    const srs = ha.srs.map((id) => objects.get(id, "SR").ref);
    await xapi.callAsync("pool.enable_ha", [srs, ha.configuration]);
  }
}
