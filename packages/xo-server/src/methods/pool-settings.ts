import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import {
  defineOperation,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import { idOf, NO_REF, onId, setFields } from "./on-object.js";

const orNone = (what: string) =>
  Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
      description: `Id of ${what}; null: none.`,
    }),
  );
const text = Type.Optional(Type.String());
const flag = Type.Optional(Type.Boolean());

/** What is set of pools. */
export function poolSettingsMethods(objects: PoolObjects): Operation[] {
  const on = (id: string) => objects.get(id, "pool");
  const shared = { result: Type.Boolean(), changes: true };
  const refOf = (
    id: string | null | undefined,
    type: string,
    context: HandlerContext,
  ) => {
    if (id === undefined) return undefined;
    if (id === null) return NO_REF;
    context.check("read", type, id);
    return objects.get(id, type).ref;
  };
  return [
    defineOperation({
      ...shared,
      name: "pool.set",
      summary: "Changes settings of a pool. Null takes one away.",
      params: Type.Object({
        id: idOf("a pool"),
        name_label: text,
        name_description: text,
        tags: Type.Optional(Type.Array(Type.String())),
        auto_poweron: flag,
        migrationCompression: flag,
        haRebootVmOnInternalShutdown: flag,
        suspendSr: orNone("an SR"),
        crashDumpSr: orNone("an SR"),
        backupNetwork: orNone("a network"),
        migrationNetwork: orNone("a network"),
      }),
      permission: onId("administrate:set", "pool"),
      handler: async ({ id, ...given }, context) => {
        const { xapi, ref } = on(id);
        await setFields(
          xapi,
          { className: "pool", ref },
          {
            name_label: given.name_label,
            name_description: given.name_description,
            tags: given.tags,
            migration_compression: given.migrationCompression,
            ha_reboot_vm_on_internal_shutdown:
              given.haRebootVmOnInternalShutdown,
            suspend_image_SR: refOf(given.suspendSr, "SR", context),
            crash_dump_SR: refOf(given.crashDumpSr, "SR", context),
          },
        );
        for (const network of [given.backupNetwork, given.migrationNetwork])
          refOf(network, "network", context);
        const entries = {
          auto_poweron: toEntry(given.auto_poweron),
          "xo:backupNetwork": given.backupNetwork,
          "xo:migrationNetwork": given.migrationNetwork,
        };
        for (const [key, value] of Object.entries(entries)) {
          if (value === undefined) continue;
          await xapi.call("pool.remove_from_other_config", [ref, key]);
          if (value !== null)
            await xapi.call("pool.add_to_other_config", [ref, key, value]);
        }
        return true;
      },
    }),
    defineOperation({
      ...shared,
      name: "pool.setDefaultSr",
      summary: "Has a pool put new disks into this SR unless told otherwise.",
      params: Type.Object({ sr: idOf("an SR of the pool") }),
      permission: {
        ...onId("read", "SR"),
        id: ({ sr }: { sr: string }) => sr,
      },
      handler: async ({ sr }, context) => {
        const { ref, object } = objects.get(sr, "SR");
        const id = String(object["$pool"]);
        context.check("administrate:set", "pool", id);
        const pool = on(id);
        await pool.xapi.call("pool.set_default_SR", [pool.ref, ref]);
        return true;
      },
    }),
    defineOperation({
      name: "pool.getLicenseState",
      summary: "Edition of a pool, and when the first of its licences expires.",
      params: Type.Object({ pool: idOf("a pool") }),
      result: Type.Object({}),
      permission: {
        ...onId("read", "pool"),
        id: ({ pool }: { pool: string }) => pool,
      },
      handler: async ({ pool }) => {
        const { xapi, ref } = on(pool);
        const state = await xapi.call("pool.get_license_state", [ref]);
        return state as Record<string, string>;
      },
    }),
  ];
}

function toEntry(value: boolean | undefined): string | null | undefined {
  if (value === undefined) return undefined;
  return value ? "true" : null;
}
