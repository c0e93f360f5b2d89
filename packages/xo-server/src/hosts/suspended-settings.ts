import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

/**
 * Automatic settings of a pool (HA, auto power-on) that are disabled during a
 * rolling reboot. JSON.
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
export async function readAutomaticSettings({
  xapi,
  ref,
  object,
}: PoolObject): Promise<SuspendedSettings> {
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

export async function suspendSettings(
  { xapi, ref, object }: PoolObject,
  { autoPoweron, ha }: SuspendedSettings,
): Promise<void> {
  if (autoPoweron === true)
    await xapi.call("pool.remove_from_other_config", [ref, "auto_poweron"]);
  if (ha !== undefined && object["HA_enabled"] === true)
    await xapi.callAsync("pool.disable_ha", []);
}

/** @param pool its current state: settings that are already restored are skipped */
export async function restoreSettings(
  { xapi, ref, object }: PoolObject,
  { autoPoweron, ha }: SuspendedSettings,
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
