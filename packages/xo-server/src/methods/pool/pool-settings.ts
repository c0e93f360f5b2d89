import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf, NO_REF, onId, setFields } from "../definition/on-object.js";

const orNone = (what: string) =>
  Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
      description: `Id of ${what}; null: none.`,
    }),
  );
const text = (description: string) =>
  Type.Optional(Type.String({ description }));
const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "pool");

const shared = { result: Type.Boolean(), changes: true };

const refOf = (
  id: string | null | undefined,
  type: string,
  context: OperationContext,
) => {
  if (id === undefined) return undefined;
  if (id === null) return NO_REF;
  context.check("read", type, id);
  return context.objects.get(id, type).ref;
};

const poolSet = defineOperation({
  ...shared,
  name: "pool.set",
  summary: "Change settings of a pool. null removes a setting.",
  params: Type.Object({
    id: idOf("a pool"),
    name_label: text("Name of the pool."),
    name_description: text("Description of the pool."),
    tags: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 1_000,
        description: "All tags of the pool.",
      }),
    ),
    auto_poweron: flag("Whether VMs may be started when their host starts."),
    migrationCompression: flag("Whether migration traffic is compressed."),
    haRebootVmOnInternalShutdown: flag(
      "Whether HA starts VMs again that were shut down from within the guest.",
    ),
    suspendSr: orNone("an SR"),
    crashDumpSr: orNone("an SR"),
    backupNetwork: orNone("a network"),
    migrationNetwork: orNone("a network"),
  }),
  permission: onId("administrate:set", "pool"),
  handler: async ({ id, ...input }, context) => {
    const { xapi, ref } = on(context, id);
    await setFields(
      xapi,
      { className: "pool", ref },
      {
        name_label: input.name_label,
        name_description: input.name_description,
        tags: input.tags,
        migration_compression: input.migrationCompression,
        ha_reboot_vm_on_internal_shutdown: input.haRebootVmOnInternalShutdown,
        suspend_image_SR: refOf(input.suspendSr, "SR", context),
        crash_dump_SR: refOf(input.crashDumpSr, "SR", context),
      },
    );
    for (const network of [input.backupNetwork, input.migrationNetwork])
      refOf(network, "network", context);
    const entries = {
      auto_poweron: toEntry(input.auto_poweron),
      "xo:backupNetwork": input.backupNetwork,
      "xo:migrationNetwork": input.migrationNetwork,
    };
    for (const [key, value] of Object.entries(entries)) {
      if (value === undefined) continue;
      await xapi.call("pool.remove_from_other_config", [ref, key]);
      if (value !== null)
        await xapi.call("pool.add_to_other_config", [ref, key, value]);
    }
    return true;
  },
});

const poolSetDefaultSr = defineOperation({
  ...shared,
  name: "pool.setDefaultSr",
  summary: "Set the default SR of a pool.",
  params: Type.Object({ sr: idOf("an SR of the pool") }),
  permission: {
    ...onId("read", "SR"),
    id: ({ sr }: { sr: string }) => sr,
  },
  handler: async ({ sr }, context) => {
    const { ref, object } = context.objects.get(sr, "SR");
    const id = String(object["$pool"]);
    context.check("administrate:set", "pool", id);
    const pool = on(context, id);
    await pool.xapi.call("pool.set_default_SR", [pool.ref, ref]);
    return true;
  },
});

const poolGetLicenseState = defineOperation({
  name: "pool.getLicenseState",
  summary:
    "Return the license edition of a pool and the earliest expiry date of its licenses.",
  params: Type.Object({ pool: idOf("a pool") }),
  result: Type.Object({}),
  permission: {
    ...onId("read", "pool"),
    id: ({ pool }: { pool: string }) => pool,
  },
  handler: async ({ pool }, context) => {
    const { xapi, ref } = on(context, pool);
    const state = await xapi.call("pool.get_license_state", [ref]);
    return state as Record<string, string>;
  },
});

const poolGetGuestSecureBootReadiness = defineOperation({
  name: "pool.getGuestSecureBootReadiness",
  summary:
    "Return whether Secure Boot works in VMs of a pool: ready, ready_no_dbx, setup_mode, certs_incomplete or not_ready, as XAPI reports it.",
  params: Type.Object({
    id: idOf("a pool"),
    forceRefresh: Type.Optional(
      Type.Boolean({
        description: "Accepted and ignored: XAPI is asked each time.",
      }),
    ),
  }),
  result: Type.String(),
  permission: onId("read", "pool"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    return String(
      await xapi.call("pool.get_guest_secureboot_readiness", [ref]),
    );
  },
});

function toEntry(value: boolean | undefined): string | null | undefined {
  if (value === undefined) return undefined;
  return value ? "true" : null;
}

/** Settings and license of pools. */
export const poolSettingsOperations = [
  poolSet,
  poolSetDefaultSr,
  poolGetLicenseState,
  poolGetGuestSecureBootReadiness,
];
